"""Two reports by what is bound in them: texts that moved, claims that are gone or new."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from .blocks import Block, Report, heads_of, plain, read
from .passages import CAUSE, CAUSE_NAME, PASSING, Passage, passages
from .sources import Source, sources_of

OUTCOME = "outcome of "
WHERE = re.compile(r"\s+where\s+", re.IGNORECASE)
# One of several, apart by `and`: quotes and brackets may hold the word.
CONDITION = re.compile(
    r"((?:'[^']*'|\([^()]*\)|(?!\s+and\s)[^'(])+)(?:\s+and\s+|\Z)", re.IGNORECASE
)
LISTED = re.compile(r"(?:\w+|\([\w, ]+\)) in \(", re.IGNORECASE)
# What a condition of nearly every source of a report is about.
COMMON = re.compile(r"(?:run_id|benchmark|base|candidate|metric|policy)\b")


@dataclass(frozen=True)
class Claim:
    """What is asked, and the text that answers it, with its line."""

    question: str
    text: str
    line: int


ByQuestion = dict[str, list[Claim]]


@dataclass(frozen=True)
class Difference:
    """Claims of two reports: `moved` has both, the old first."""

    moved: tuple[tuple[Claim, Claim], ...]
    gone: tuple[Claim, ...]
    new: tuple[Claim, ...]


def claims(text: str) -> Iterator[Claim]:
    """Every pair and every bound cell of a report; what it says of tasks, and what it cites."""
    report = read(text)
    for block in report.blocks:
        for source in sources_of(block):
            if source.columns:
                yield from _cells(report, block, source)
            for no, pair in enumerate(source.pairs, start=1):
                if pair.text is not None:
                    what = pair.expression or f"answer {no} to"
                    yield Claim(f"{what} {_question(source)}", pair.text, block.line)
    for passage in passages(report):
        yield from _of_passage(passage)


def _question(source: Source) -> str:
    """What a source asks: its conditions in one order, those that most sources have last."""
    relation, *where = WHERE.split(source.behind, maxsplit=1)
    if not source.relation or source.relation.startswith("(") or not where:
        return source.behind
    if CONDITION.sub("", where[0]):
        return source.behind
    # A list of what a table has is no question: its keys distinguish its rows.
    conditions = [
        each for each in CONDITION.findall(where[0]) if not (source.columns and LISTED.match(each))
    ]
    ordered = sorted(conditions, key=lambda each: (bool(COMMON.match(each)), each))
    return ", ".join([relation, *ordered])


def _cells(report: Report, block: Block, source: Source) -> Iterator[Claim]:
    heads = heads_of(block)
    for row in block.rows:
        texts = (plain(span.text) for span in row)
        cells = dict(zip(heads, texts, strict=False))
        key = ", ".join(cells.get(plain(head), "") for _, head in source.keys)
        line = report.line_at(row[0].start) if row else block.line
        for head in dict.fromkeys(plain(head) for _, head in source.columns):
            if cells.get(head):
                yield Claim(f"{head} of {key} {_question(source)}", cells[head], line)


def _of_passage(passage: Passage) -> Iterator[Claim]:
    """Rollouts that are cited, how the report says they end, cause and counts of a task."""
    owner = passage.title_task()
    task = f"task {owner[0]}" if owner else ""
    if task and passage.block.kind == "heading" and (counts := PASSING.search(passage.plain)):
        yield Claim(f"attempts that pass of {task}", f"{counts[1]} of {counts[2]}", passage.line)
    if task and (cause := CAUSE.search(passage.plain)):
        named = CAUSE_NAME.findall(passage.plain[cause.end() :])
        if named:
            yield Claim(f"cause of {task}", "+".join(named), passage.line)
    for start, _, each in passage.cites:
        line = passage.report.line_at(start)
        yield Claim(f"cites {each}", str(each), line)
        if label := passage.label_before(start):
            yield Claim(f"{OUTCOME}{each}", label["word"].lower(), line)


def difference(old: str, new: str) -> Difference:
    """What differs, in the order of each report; a claim that is made twice counts once."""
    before, after = _by_question(old), _by_question(new)
    moved = [
        (before[question][0], own[0])
        for question, own in after.items()
        if question in before
        and {each.text for each in own}.isdisjoint(each.text for each in before[question])
    ]
    return Difference(tuple(moved), _only(before, after), _only(after, before))


def _only(own: ByQuestion, other: ByQuestion) -> tuple[Claim, ...]:
    """Claims of one report alone; how a rollout ends comes and goes with its citation."""
    return tuple(
        claims[0]
        for question, claims in own.items()
        if question not in other and not question.startswith(OUTCOME)
    )


def _by_question(text: str) -> ByQuestion:
    by_question: ByQuestion = defaultdict(list)
    for claim in claims(text):
        by_question[claim.question].append(claim)
    return by_question
