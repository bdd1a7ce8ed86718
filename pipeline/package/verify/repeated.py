"""The same quantity told twice: by equal marks, or by equal words in two tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.package.verify.finding import CONTRADICTED, Finding
from pipeline.package.verify.marked import marked
from pipeline.package.verify.passages import Passage

CHECK = "repeated"


@dataclass(frozen=True)
class Told:
    """A quantity with the value that one place gives it."""

    line: int
    text: str
    value: float
    decimals: int


def check(found: list[Passage], told: list[Finding], file: str) -> Iterator[Finding]:
    """Places that give one quantity values that cannot both be right.

    A line that is contradicted already needs no second word.
    """
    known = {finding.line for finding in told if finding.status == CONTRADICTED}
    for name, places in _by_mark(found).items():
        yield from _differing(name, places, known, file)


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


def _differing(name: str, places: list[Told], known: set[int], file: str) -> Iterator[Finding]:
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
        if abs(place.value - model.value) > half * (1 + 1e-9) + 1e-12 and place.line not in known:
            source = f"line {model.line} says {model.text}: {name}"
            yield Finding(place.line, CONTRADICTED, place.text, model.text, source, CHECK, file)
