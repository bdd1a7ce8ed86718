"""What a report says twice or adds up itself: ratios, totals, shares of a whole, equal counts."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.package.blocks import Block, Report, Span, masked
from pipeline.package.sources import CONTRADICTED, JUDGED, Finding
from pipeline.package.verify.units import CELLS, HEADS, SAID, head, is_headed

HIDDEN = re.compile(r"<!--.{0,2000}?-->|[*`]")
NEARLY_ALL, ROUGHLY, FEWEST_LETTERS = 0.95, 0.05, 4


@dataclass(frozen=True)
class Cell:
    """A cell of a table; a count or a part of a whole where `part` is known."""

    span: Span
    line: int
    text: str
    part: int | None = None
    whole: int | None = None
    is_about: bool = False
    # Whether the data verify a figure of it.
    is_known: bool = False


Rows = list[list[Cell]]


def check(report: Report, settled: Sequence[int]) -> Iterator[Finding]:
    """All of a report; `settled` are the places, in order, of figures that the data verify."""
    tables: list[tuple[Block, Rows]] = []
    for block in report.blocks:
        for span in block.spans if block.kind != "heading" else ():
            yield from _ratios(report, span)
        if block.kind == "table":
            cells = [[_cell(report, span, settled) for span in row] for row in block.rows if row]
            tables.append((block, cells))
            if len(cells) > 1:
                yield from _totals(cells)
                yield from _shares(block, cells)
    yield from _repeated(tables)


def _cell(report: Report, span: Span, settled: Sequence[int]) -> Cell:
    text = " ".join(HIDDEN.sub("", report.text[span.start : span.end]).split()).casefold()
    line, place = report.line_at(span.start), bisect_left(settled, span.start)
    match = CELLS["count"].fullmatch(masked(report.text, span).replace("\x01", ""))
    if match is None:
        return Cell(span, line, text)
    whole = _int(match["whole"]) if match["whole"] else None
    is_known = place < len(settled) and settled[place] < span.end
    return Cell(span, line, text, _int(match["part"]), whole, bool(match["about"]), is_known)


def _ratios(report: Report, span: Span) -> Iterator[Finding]:
    """`14 of 57 (24.6%)`: the part within the whole, the percentage their quotient."""
    seen = masked(report.text, span)
    for match in SAID["ratio"].finditer(seen):
        part, whole = _int(match["part"]), _int(match["whole"])
        if SAID["no_part"].search(seen, max(0, match.start() - 12), match.start()):
            continue
        line = report.line_at(span.start + match.start())
        claim = f"{match['part']} of {match['whole']}"
        if part > whole and match["noun"].startswith(" "):
            told = f"at most {match['whole']}"
            yield Finding(line, CONTRADICTED, claim, told, "the text itself", "ratio")
        elif match["percent"] and whole and not SAID["other"].search(match["noun"] + match["more"]):
            line = report.line_at(span.start + match.start("percent"))
            status, told = _share(part, whole, match["percent"])
            claim = f"{claim} ({match['percent']}%)"
            yield Finding(line, status, claim, told, "the text itself", "ratio")


def _share(part: int, whole: int, percent: str) -> tuple[str, str]:
    """Whether a percentage is that of a part, and what it would be."""
    decimals, share = len(percent.partition(".")[2]), 100 * part / whole
    is_right = abs(share - float(percent)) <= 0.5 * 10.0**-decimals + 1e-9
    return JUDGED[is_right], f"{share:.{decimals}f}%"


def _totals(rows: Rows) -> Iterator[Finding]:
    """The row that is called a total against the sum of the others."""
    named = [row for row in rows if _is_total(row)]
    parts = [row for row in rows if not _is_total(row)]
    if len(named) != 1 or len(parts) < 2 or named[0] not in (rows[0], rows[-1]):
        return
    for place, total in enumerate(named[0][1:], 1):
        title = head(total.span)
        is_tasks = title == "tasks" and SAID["overlapping"].search(head(named[0][0].span))
        if total.part is None or total.is_known or is_tasks or SAID["no_sum"].search(title):
            continue
        column = [row[place] for row in parts if place < len(row)]
        column = [cell for cell in column if not CELLS["nothing"].fullmatch(cell.text)]
        if len(column) < 2 or any(cell.part is None for cell in column):
            continue
        if {cell.whole is None for cell in column} != {total.whole is None}:
            continue
        is_about = any(cell.is_about for cell in (total, *column))
        sums = [(total.part, sum(cell.part or 0 for cell in column))]
        if total.whole is not None:
            sums.append((total.whole, sum(cell.whole or 0 for cell in column)))
        lines = f"the rows of the table, lines {column[0].line} to {column[-1].line}"
        for given, summed in sums:
            is_right = abs(given - summed) <= (ROUGHLY * summed if is_about else 0)
            claim = f"{total.span.head.strip()}: {given:,}"
            yield Finding(total.line, JUDGED[is_right], claim, f"{summed:,}", lines, "total")


def _shares(block: Block, rows: Rows) -> Iterator[Finding]:
    """A column headed `% of 1056` beside one of counts: each share, and the sum of the counts."""
    heads = [" ".join(each.replace("*", "").split()).casefold() for each in block.heads]
    shares = [
        (n, match) for n, told in enumerate(heads) if (match := SAID["share_of"].search(told))
    ]
    counts = [n for n, told in enumerate(heads) if HEADS["count"].fullmatch(told)]
    if len(shares) != 1 or len(counts) != 1:
        return
    (place, match), whole = shares[0], _int(shares[0][1]["whole"])
    found = []
    for row in (row for row in rows if len(row) > max(place, counts[0])):
        count, share = row[counts[0]], CELLS["percent"].fullmatch(row[place].text)
        if count.part is None:
            continue
        if not _is_total(row):
            found.append(count)
        if share and whole and not count.is_about:
            status, told = _share(count.part, whole, share["value"])
            claim = f"{count.part:,}: {share['value']}%"
            source = f"the head says of {match['whole']}"
            yield Finding(count.line, status, claim, told, source, "total")
    summed = sum(count.part or 0 for count in found)
    is_known = all(count.is_known for count in found)
    # Rows may be a choice of the commonest: only a sum near the whole claims to be all of it.
    if len(found) > 1 and not is_known and NEARLY_ALL * whole < summed != whole:
        claim, source = f"% of {match['whole']}", "the sum of the rows"
        yield Finding(block.line, CONTRADICTED, claim, f"{summed:,}", source, "total")


def _repeated(tables: list[tuple[Block, Rows]]) -> Iterator[Finding]:
    """One name with different counts in tables of different sections."""
    places: dict[tuple[str, str], list[tuple[Block, Cell]]] = {}
    for block, rows in tables:
        names = [row[0].text for row in rows]
        for row in rows if not any(map(SAID["several"].search, block.path)) else ():
            name = row[0].text
            is_name = len(re.findall(r"[a-z]", name)) >= FEWEST_LETTERS and names.count(name) == 1
            counted = [cell for cell in row[1:] if is_headed(cell.span, "count")]
            is_count = len(counted) == 1 and counted[0].part is not None
            if is_name and is_count and not _is_total(row):
                places.setdefault((name, head(row[0].span)), []).append((block, counted[0]))
    for (name, _), found in places.items():
        first, model = next((one for one in found if one[1].is_known), found[0])
        source, told = f"line {model.line} says {model.part:,}: {name}", f"{model.part:,}"
        for block, count in found:
            # Not in like parts of two sections, as those on two runs would be.
            paths = block.path, first.path
            is_alike = min(map(len, paths)) > 1 and block.path[-1] == first.path[-1]
            is_apart = block.path[:1] != first.path[:1] and not is_alike
            if is_apart and not count.is_known and count.part != model.part:
                yield Finding(count.line, CONTRADICTED, f"{count.part:,}", told, source, "repeated")


def _is_total(row: list[Cell]) -> bool:
    return CELLS["total"].fullmatch(row[0].text) is not None


def _int(digits: str) -> int:
    return int(digits.replace(",", ""))
