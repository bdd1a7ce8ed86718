"""Two reports by what is bound in them: texts that moved, claims that are gone or new."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.package.blocks import read
from pipeline.package.evidence import passages
from pipeline.package.sources import heads_of, parsed, plain


@dataclass(frozen=True)
class Claim:
    """What is asked, and the text that answers it, with its line."""

    asked: str
    text: str
    line: int


@dataclass(frozen=True)
class Difference:
    """Claims of two reports: `moved` has both, the old first."""

    moved: tuple[tuple[Claim, Claim], ...]
    gone: tuple[Claim, ...]
    new: tuple[Claim, ...]


def claims(text: str) -> Iterator[Claim]:
    """Every pair and every bound cell of a report, and every rollout that it cites."""
    report = read(text)
    for block in report.blocks:
        is_table = block.kind == "table"
        sources = (one for each in block.sources for one in parsed(each, is_table=is_table))
        for source in sources:
            for pair in source.pairs:
                if pair.text is not None:
                    yield Claim(f"{pair.expression} {source.words}".strip(), pair.text, block.line)
            heads = heads_of(block)
            for row in block.rows if source.columns else ():
                cells = dict(
                    zip(heads, (plain(report.text[s.start : s.end]) for s in row), strict=False)
                )
                key = ", ".join(cells.get(plain(head), "") for _, head in source.keys)
                line = report.line_at(row[0].start) if row else block.line
                for head in dict.fromkeys(plain(head) for _, head in source.columns):
                    if cells.get(head):
                        yield Claim(f"{head} of {key} {source.words}", cells[head], line)
    for passage in passages(report):
        for start, _, each in passage.cites:
            yield Claim(f"cites {each}", str(each), report.line_at(start))


def difference(old: str, new: str) -> Difference:
    """What differs, in the order of each report; a claim that is told twice counts once."""
    before, after = _by_question(old), _by_question(new)
    moved = [
        (before[asked][0], own[0])
        for asked, own in after.items()
        if asked in before
        and {each.text for each in own}.isdisjoint(each.text for each in before[asked])
    ]
    return Difference(
        tuple(moved),
        tuple(own[0] for asked, own in before.items() if asked not in after),
        tuple(own[0] for asked, own in after.items() if asked not in before),
    )


def _by_question(text: str) -> dict[str, list[Claim]]:
    found: dict[str, list[Claim]] = defaultdict(list)
    for claim in claims(text):
        found[claim.asked].append(claim)
    return found
