"""What a report says twice or adds up itself: ratios, totals, shares of a whole, equal counts."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.package.verify.units import CELLS, HEADS, SAID, head, is_headed
from pipeline.report.blocks import Block, Report, Span, masked
from pipeline.report.sources import CONTRADICTED, VERIFIED, Finding

NEARLY_ALL, ROUGHLY, FEWEST_LETTERS = 0.95, 0.05, 4


@dataclass(frozen=True)
class Count:
    """A cell that is a count, or a part of a whole."""

    span: Span
    line: int
    part: int
    whole: int | None
    is_about: bool


def check(report: Report, settled: Sequence[int]) -> Iterator[Finding]:
    """All of a report; `settled` are the places, in order, of figures that the data verify."""
    for block in report.blocks:
        if block.kind != "heading":
            for span in block.spans:
                yield from _ratios(report, span)
        if block.kind == "table" and len(block.rows) > 1:
            yield from _totals(report, block, settled)
            yield from _shares(report, block, settled)
    yield from _repeated(report, settled)


def _ratios(report: Report, span: Span) -> Iterator[Finding]:
    """`14 of 57 (24.6%)`: the part within the whole, the percentage their quotient."""
    seen = masked(report.text, span)
    for match in SAID["ratio"].finditer(seen):
        part, whole = _int(match["part"]), _int(match["whole"])
        if SAID["no_part"].search(seen, max(0, match.start() - 12), match.start()):
            continue
        line, claim = (
            report.line_at(span.start + match.start()),
            f"{match['part']} of {match['whole']}",
        )
        if part > whole and match["noun"].startswith(" "):
            told = f"at most {match['whole']}"
            yield Finding(line, CONTRADICTED, claim, told, "the text itself", "ratio")
        elif match["percent"] and whole and not SAID["other"].search(match["noun"] + match["more"]):
            line = report.line_at(span.start + match.start("percent"))
            decimals = len(match["percent"].partition(".")[2])
            is_right = _is_share(part / whole, float(match["percent"]), decimals)
            status = VERIFIED if is_right else CONTRADICTED
            told, claim = f"{100 * part / whole:.{decimals}f}%", f"{claim} ({match['percent']}%)"
            yield Finding(line, status, claim, told, "the text itself", "ratio")


def _totals(report: Report, block: Block, settled: Sequence[int]) -> Iterator[Finding]:
    """The row that is called a total against the sum of the others."""
    named = [row for row in block.rows if _is_total(report, row)]
    parts = [row for row in block.rows if not _is_total(report, row)]
    if len(named) != 1 or len(parts) < 2 or named[0] not in (block.rows[0], block.rows[-1]):
        return
    for place, span in enumerate(named[0][1:], 1):
        total = _count(report, span)
        is_tasks = head(span) == "tasks" and SAID["overlapping"].search(head(named[0][0]))
        if (
            total is None
            or SAID["no_sum"].search(head(span))
            or is_tasks
            or _is_known(span, settled)
        ):
            continue
        told = [(row[place] if place < len(row) else None) for row in parts]
        cells = [_count(report, each) for each in told if each and not _is_empty(report, each)]
        counts = [each for each in cells if each is not None]
        if len(counts) < 2 or len(counts) < len(cells):
            continue
        if {each.whole is None for each in counts} != {total.whole is None}:
            continue
        is_about = total.is_about or any(each.is_about for each in counts)
        sums = [(total.part, sum(each.part for each in counts))]
        if total.whole is not None:
            sums.append((total.whole, sum(each.whole or 0 for each in counts)))
        lines = f"the rows of the table, lines {counts[0].line} to {counts[-1].line}"
        for given, summed in sums:
            is_right = abs(given - summed) <= (ROUGHLY * summed if is_about else 0)
            status = VERIFIED if is_right else CONTRADICTED
            claim = f"{span.head.strip()}: {given:,}"
            yield Finding(total.line, status, claim, f"{summed:,}", lines, "total")


def _shares(report: Report, block: Block, settled: Sequence[int]) -> Iterator[Finding]:
    """A column headed `% of 1056` beside one of counts: each share, and the sum of the counts."""
    heads = [" ".join(each.replace("*", "").split()).casefold() for each in block.heads]
    shares = [place for place, told in enumerate(heads) if SAID["share_of"].search(told)]
    counts = [place for place, told in enumerate(heads) if HEADS["count"].fullmatch(told)]
    if len(shares) != 1 or len(counts) != 1:
        return
    match = SAID["share_of"].search(heads[shares[0]])
    assert match is not None
    whole, source = _int(match["whole"]), f"the head says of {match['whole']}"
    found = []
    for row in block.rows:
        if len(row) <= max(shares[0], counts[0]):
            continue
        count = _count(report, row[counts[0]])
        share = CELLS["percent"].fullmatch(report.text[row[shares[0]].start : row[shares[0]].end])
        if count is None:
            continue
        if not _is_total(report, row):
            found.append(count)
        if share and whole and not count.is_about:
            decimals = len(share["decimals"] or "")
            is_right = _is_share(count.part / whole, float(share["value"]), decimals)
            status = VERIFIED if is_right else CONTRADICTED
            claim = f"{count.part:,}: {share['value']}%"
            told = f"{100 * count.part / whole:.{decimals}f}%"
            yield Finding(count.line, status, claim, told, source, "total")
    summed = sum(count.part for count in found)
    is_known = all(_is_known(count.span, settled) for count in found)
    # Rows may be a choice of the commonest: only a sum near the whole claims to be all of it.
    if len(found) > 1 and not is_known and NEARLY_ALL * whole < summed != whole:
        claim = f"% of {match['whole']}"
        yield Finding(
            block.line, CONTRADICTED, claim, f"{summed:,}", "the sum of the rows", "total"
        )


def _repeated(report: Report, settled: Sequence[int]) -> Iterator[Finding]:
    """One name with different counts in tables of different sections."""
    places: dict[tuple[str, str], list[tuple[Block, Count]]] = {}
    for block in report.blocks:
        if block.kind != "table" or any(map(SAID["several"].search, block.path)):
            continue
        names = [_name(report, row) for row in block.rows]
        for name, row in zip(names, block.rows, strict=True):
            counted = [span for span in row[1:] if is_headed(span, "count")]
            count = _count(report, counted[0]) if len(counted) == 1 else None
            if name and count and names.count(name) == 1 and not _is_total(report, row):
                places.setdefault((name, head(row[0])), []).append((block, count))
    for (name, _), found in places.items():
        model = next((one for one in found if _is_known(one[1].span, settled)), found[0])
        for block, count in found:
            is_other = _are_apart(block, model[0]) and not _is_known(count.span, settled)
            if is_other and count.part != model[1].part:
                source = f"line {model[1].line} says {model[1].part:,}: {name}"
                told = f"{model[1].part:,}"
                yield Finding(count.line, CONTRADICTED, f"{count.part:,}", told, source, "repeated")


def _are_apart(block: Block, other: Block) -> bool:
    """In different sections, and not in like parts of each, as those on two runs would be."""
    return block.path[:1] != other.path[:1] and not (
        len(block.path) > 1 and len(other.path) > 1 and block.path[-1] == other.path[-1]
    )


def _count(report: Report, span: Span) -> Count | None:
    match = CELLS["count"].fullmatch(masked(report.text, span).replace("\x01", ""))
    if match is None:
        return None
    whole = _int(match["whole"]) if match["whole"] else None
    line = report.line_at(span.start)
    return Count(span, line, _int(match["part"]), whole, bool(match["about"]))


def _is_total(report: Report, row: tuple[Span, ...]) -> bool:
    return bool(row) and CELLS["total"].fullmatch(_plain(report, row[0])) is not None


def _is_empty(report: Report, span: Span) -> bool:
    return CELLS["nothing"].fullmatch(_plain(report, span)) is not None


def _name(report: Report, row: tuple[Span, ...]) -> str:
    """What a row is called, where that says something."""
    told = _plain(report, row[0]) if row else ""
    return told if len(re.findall(r"[a-z]", told)) >= FEWEST_LETTERS else ""


def _plain(report: Report, span: Span) -> str:
    told = re.sub(r"<!--.{0,2000}?-->|[*`]", "", report.text[span.start : span.end])
    return " ".join(told.split()).casefold()


def _is_known(span: Span, settled: Sequence[int]) -> bool:
    place = bisect_left(settled, span.start)
    return place < len(settled) and settled[place] < span.end


def _is_share(share: float, percent: float, decimals: int) -> bool:
    return abs(100 * share - percent) <= 0.5 * 10.0**-decimals + 1e-9


def _int(digits: str) -> int:
    return int(digits.replace(",", ""))
