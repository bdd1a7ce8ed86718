"""The same quantity told twice: by equal marks, or by equal words in two tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.package.headings import section_of
from pipeline.package.numbers import Number
from pipeline.package.verify.finding import CONTRADICTED, UNVERIFIABLE, Finding
from pipeline.package.verify.marked import marked
from pipeline.package.verify.passages import Passage, Piece
from pipeline.package.verify.totals import is_total, single

CHECK = "repeated"
COUNTS = re.compile(r"\s*(?:rollouts|failures|count|n|occurrences|times|cases)\s*", re.IGNORECASE)
OF_WHAT = re.compile(r"\)| (?:rollouts|failures|times|cases|occurrences)|,")
SEVERAL = ("Cross-Model Comparison", "Artifact Inventory")
SHORTEST = 4
MOST_NAMES = 500


@dataclass(frozen=True)
class Told:
    """A quantity with the value that one place gives it."""

    line: int
    text: str
    value: float
    decimals: int


def check(found: list[Passage], told: list[Finding], file: str) -> Iterator[Finding]:
    """Places that give one quantity values that cannot both be right.

    Where the data have spoken, nothing is left to say.
    """
    settled = {
        finding.source.partition(": ")[0]
        for finding in told
        if finding.check == "marked" and finding.status != UNVERIFIABLE
    }
    for name, places in _by_mark(found).items():
        if name not in settled:
            yield from _differing(name, places, file)
    known = {(each.line, each.claim) for each in told if each.status != UNVERIFIABLE}
    for name, places in _by_label(found).items():
        if not any(line == place.line for line, _ in known for place in places):
            yield from _differing(name, places, file)


def _by_mark(found: list[Passage]) -> dict[str, list[Told]]:
    places: dict[str, list[Told]] = {}
    for each in marked(found):
        if (
            each.printed is not None
            and each.printed.value is not None
            and not each.printed.is_below
        ):
            scale = each.printed.scales[0]
            value = each.printed.value / scale
            decimals = each.printed.decimals + (2 if scale == 100 else 0)
            places.setdefault(each.source, []).append(
                Told(each.line, each.printed.text, value, decimals)
            )
    return places


def _by_label(found: list[Passage]) -> dict[str, list[Told]]:
    """Counts of one name in several tables, and in brackets behind the name."""
    places = _in_tables(found)
    names = sorted(places, key=len, reverse=True)
    if not names:
        return {}
    pattern = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, names[:MOST_NAMES]))})`? \((?=\d)")
    for passage in found:
        for piece in () if passage.is_row or _compares(passage) else passage.pieces:
            starts = {number.start: number for number in piece.numbers}
            text = piece.block.text.casefold()
            for match in pattern.finditer(text, piece.start, piece.end):
                number = starts.get(match.end())
                is_count = number is not None and OF_WHAT.match(text, number.end)
                if number is not None and is_count and not piece.mark_of(number):
                    places[match[1]].append(_told(piece, number))
    return places


def _in_tables(found: list[Passage]) -> dict[str, list[Told]]:
    """Counts by the name of their row, where no other row of the table has the name."""
    rows = [
        (_label(passage.pieces[0].text), passage)
        for passage in found
        if passage.is_row and not is_total(passage) and not _compares(passage)
    ]
    n_rows = Counter((passage.table_no, name) for name, passage in rows)
    places: dict[str, list[Told]] = {}
    for name, passage in rows:
        for place, piece in enumerate(passage.pieces):
            cell = single(passage, place)
            is_count = COUNTS.fullmatch(piece.head) and not piece.marks
            if name and cell and is_count and n_rows[passage.table_no, name] == 1:
                places.setdefault(name, []).append(_told(piece, cell.number))
    return places


def _label(text: str) -> str:
    """A name that says something; none for numbers and single letters."""
    plain = " ".join(text.casefold().split())
    return plain if len(re.findall(r"[a-z]", plain)) >= SHORTEST else ""


def _told(piece: Piece, number: Number) -> Told:
    return Told(piece.line_at(number.start), number.text, number.value, number.decimals)


def _compares(passage: Passage) -> bool:
    """Where several runs or parts are told side by side, one name has several counts."""
    return len(passage.titles) > 1 or section_of(passage.section) in SEVERAL


def _differing(name: str, places: list[Told], file: str) -> Iterator[Finding]:
    """Those that differ from what most places say, or from the first."""
    votes = Counter(round(place.value, min(each.decimals for each in places)) for place in places)
    usual, _ = max(votes.items(), key=lambda item: item[1])
    model = next(
        place
        for place in places
        if round(place.value, min(each.decimals for each in places)) == usual
    )
    for place in places:
        half = 0.5 * 10.0**-place.decimals + 0.5 * 10.0**-model.decimals
        if abs(place.value - model.value) >= half * (1 - 1e-6):
            source = f"line {model.line} says {model.text}: {name}"
            yield Finding(place.line, CONTRADICTED, place.text, model.text, source, CHECK, file)
