"""Tables that do not hold by themselves: rows against a total, percentages against their whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.package.numbers import Number
from pipeline.package.verify.finding import CONTRADICTED, VERIFIED, Finding
from pipeline.package.verify.passages import Passage, Piece, tables

CHECK = "total"
TOTAL = re.compile(
    r"\W*(?:grand )?(?:total|totals|sum|all|overall|together)\b.{0,30}", re.IGNORECASE
)
# Columns of which a sum means nothing, or whose rows may overlap.
NO_SUM = re.compile(
    r"%|percent|share|rate|mean|median|average|avg|pass@|pass\^|reward|\bp\b|\bq\b|percentile|"
    r"highest|lowest|\bmax|\bmin|\bk\b|interval|gain|change|delta|rank|seconds|tokens|turns|"
    r"runs?\b|best|worst|scores?\b|distinct|unique|odds|ratio|points",
    re.IGNORECASE,
)
PERCENT_OF = re.compile(
    r"(?:(?:%|percent|share)\s*(?:of|/)|\A\s*of)\s*(?:the |all )?(?P<whole>[\d,]+)\b", re.IGNORECASE
)
PERCENT_HEAD = re.compile(
    r"\s*(?:%|percent\b|share\b|pct\b).*|.*[(\s](?:%|percent)\)?\s*|\s*of (?:the |all )?[\d,]+\s*",
    re.IGNORECASE,
)
COUNT_HEAD = re.compile(
    r"\s*(?:#|n|no\.?|count|counts|number|rollouts?|tasks?|failures?|occurrences?|attempts?|cases?|"
    r"reached)"
    r"(?: of .{0,30})?\s*",
    re.IGNORECASE,
)
LEAST_ROWS = 2
SUMMED = re.compile(r"lines (?P<first>\d+) to (?P<last>\d+)\Z")
RATIO = ("part", "whole")


@dataclass(frozen=True)
class Cell:
    """A cell that is one number and nothing else."""

    passage: Passage
    piece: Piece
    number: Number

    @property
    def line(self) -> int:
        """Where it stands."""
        return self.passage.line


def check(found: list[Passage], file: str) -> Iterator[Finding]:
    """All tables of a report, one by one."""
    for rows in tables(found).values():
        yield from _sums(rows, file)
        yield from _percents(rows, file)


def single(passage: Passage, place: int) -> Cell | None:
    """The number that is all there is in a cell."""
    if place >= len(passage.pieces):
        return None
    piece = passage.pieces[place]
    if len(piece.numbers) != 1:
        return None
    number = piece.numbers[0]
    rest = piece.text[: number.start] + piece.text[number.end :]
    return Cell(passage, piece, number) if not rest.strip(" *_~") else None


def is_total(passage: Passage) -> bool:
    """Whether a row is named a total."""
    return bool(passage.pieces) and TOTAL.fullmatch(passage.pieces[0].text.strip()) is not None


def lines(total: Finding) -> tuple[int, int]:
    """The rows that a total was held against; none where it was something else."""
    match = SUMMED.search(total.source)
    return (int(match["first"]), int(match["last"])) if match else (0, 0)


def _sums(rows: list[Passage], file: str) -> Iterator[Finding]:
    named = [row for row in rows if is_total(row)]
    parts = [row for row in rows if not is_total(row)]
    if len(named) != 1 or len(parts) < LEAST_ROWS or named[0] not in (rows[0], rows[-1]):
        return
    for place in range(1, len(named[0].pieces)):
        piece = named[0].pieces[place]
        total, cells = _counts(named[0], place), [_counts(row, place) for row in parts]
        if not total or NO_SUM.search(piece.head) or {len(cell) for cell in cells} != {len(total)}:
            continue
        source = f"the rows of the table, lines {parts[0].line} to {parts[-1].line}"
        for order, number in enumerate(total):
            summed = sum(cell[order].value for cell in cells)
            status = VERIFIED if summed == number.value else CONTRADICTED
            claim = f"{piece.head.strip()}: {number.text}"
            yield Finding(named[0].line, status, claim, f"{summed:,.0f}", source, CHECK, file)


def _counts(passage: Passage, place: int) -> tuple[Number, ...]:
    """The count that is all there is in a cell, or both of `285/810`; none otherwise."""
    cell = single(passage, place)
    if cell is not None:
        return (cell.number,) if _is_count(cell.number) else ()
    piece = passage.pieces[place] if place < len(passage.pieces) else None
    if piece is None or len(piece.ratios) != 1 or len(piece.numbers) != len(RATIO):
        return ()
    both = (piece.ratios[0].part, piece.ratios[0].whole)
    return both if all(map(_is_count, both)) else ()


def _is_count(number: Number) -> bool:
    return not number.unit and not number.decimals and not number.is_signed


def _percents(rows: list[Passage], file: str) -> Iterator[Finding]:
    """Percentages beside counts, where a head or a total row says of what."""
    if not rows:
        return
    heads = [piece.head for piece in rows[0].pieces]
    counts = [place for place, head in enumerate(heads) if COUNT_HEAD.fullmatch(head)]
    shares = [place for place, head in enumerate(heads) if PERCENT_HEAD.fullmatch(head)]
    # Beside rollouts the tasks they are of are often counted too.
    if len(counts) > 1:
        counts = [place for place in counts if "task" not in heads[place].casefold()]
    if len(counts) != 1 or len(shares) != 1:
        return
    said = PERCENT_OF.search(heads[shares[0]])
    wholes = [single(row, counts[0]) for row in rows if is_total(row)]
    cells = [(single(row, counts[0]), single(row, shares[0])) for row in rows]
    pairs = [(count, share) for count, share in cells if count and share and share.number.unit]
    if said is not None:
        whole = float(said["whole"].replace(",", ""))
        # Rollouts that reach a stage are counted at the stages before it too.
        if "reached" not in heads[counts[0]].casefold():
            yield from _header(rows, said["whole"], whole, counts[0], file)
        source = f"the head says of {said['whole']}"
    elif len(wholes) == 1 and wholes[0] is not None and wholes[0].number.value:
        whole, source = wholes[0].number.value, f"the total in line {wholes[0].line}"
    else:
        return
    for count, share in pairs:
        told = count.number.value / whole if whole else 0.0
        status = VERIFIED if share.number.agrees(told) else CONTRADICTED
        expected = f"{100 * told:.{share.number.decimals}f}%"
        claim = f"{count.number.text}: {share.number.text}"
        yield Finding(share.line, status, claim, expected, source, CHECK, file)


def _header(
    rows: list[Passage], said: str, whole: float, place: int, file: str
) -> Iterator[Finding]:
    """The whole that a head names against the sum of its rows, where they fill it up."""
    cells = [single(row, place) for row in rows if not is_total(row)]
    known = [cell for cell in cells if cell is not None and _is_count(cell.number)]
    summed = sum(cell.number.value for cell in known)
    line = rows[0].line - 2
    # Rows may be a choice of the commonest: only a sum near the whole claims to be all of it.
    if len(known) == len(cells) and len(known) >= LEAST_ROWS and summed > 0.95 * whole:
        status = VERIFIED if summed == whole else CONTRADICTED
        yield Finding(
            line, status, f"% of {said}", f"{summed:,.0f}", "the sum of the rows", CHECK, file
        )
