"""A number as a report prints it: read back, held against a value, and printed alike."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from pipeline.package.numbers import Number
from pipeline.package.reading import Block, Mark

LONGEST = 40
NUMBER = re.compile(
    r"(?:(?P<below>(?:below|under|<)\s*)?(?P<sign>[+\u2212-])?(?P<digits>\d[\d,]*(?:\.\d+)?)"
    r"(?P<unit>\s?%|\s?percent|\s?(?:percentage\s)?points?|\s?pp)?|(?P<none>n/a))\Z",
    re.IGNORECASE,
)
POINTS = re.compile(
    r"\s?(?:points?|pp)\b|\s(?:to|and)\s[+\u2212-]?[\d,.]+\s(?:points?|pp)\b", re.IGNORECASE
)
RATES = re.compile(r"pass|rate|share|coverage|consistency|gain|retry|majority", re.IGNORECASE)


@dataclass(frozen=True)
class Printed:
    """What stands in the text: a number with its digits, or n/a."""

    text: str
    value: float | None
    decimals: int
    is_below: bool
    is_signed: bool
    # What a value is multiplied by before it is printed like this.
    scales: tuple[int, ...]
    unit: str

    def agrees(self, value: float | None) -> bool:
        """Whether a value would be printed like this."""
        if value is None or self.value is None:
            return value is None and self.value is None
        if self.is_below:
            return value < self.value
        return any(self._is_close(scale * value) for scale in self.scales)

    def _is_close(self, told: float) -> bool:
        half = 0.5 * 10.0**-self.decimals
        shown = self.value if self.value is not None else math.nan
        told = told if self.is_signed or shown < 0 else abs(told)
        return abs(told - shown) <= half + 1e-9 * max(1.0, abs(told))

    def like(self, value: float | None) -> str:
        """Another value in the same form."""
        if value is None:
            return "n/a"
        told = self.scales[0] * value
        decimals = max(self.decimals, 0)
        if not decimals and not float(told).is_integer() and not self.unit:
            decimals = 1
        sign = "+" if self.is_signed else ""
        return f"{told:{sign},.{decimals}f}{self.unit}"


def before(block: Block, mark: Mark) -> Printed | None:
    """The number or n/a that ends where a mark stands."""
    match = NUMBER.search(block.text[max(0, mark.end - LONGEST) : mark.end])
    if match is None:
        return None
    if match["none"]:
        return Printed("n/a", None, 0, False, False, (1,), "")
    unit = match["unit"] or ""
    digits = match["digits"].replace(",", "")
    sign = -1 if match["sign"] in ("-", "\u2212") else 1
    return Printed(
        match[0].strip(),
        sign * float(digits),
        len(digits.partition(".")[2]),
        bool(match["below"]),
        bool(match["sign"]),
        _scales(block.text, mark, unit, bool(match["sign"])),
        unit,
    )


def plain(number: Number) -> Printed:
    """A number found in the text, whose unit is known."""
    unit = {"percent": "%", "points": " points"}.get(number.unit, "")
    return Printed(
        number.text,
        number.value,
        number.decimals,
        False,
        number.is_signed,
        (100,) if number.unit else (1,),
        unit,
    )


def number_of(value: object) -> float | None:
    """A value of a relation as a number; none for what is no finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if math.isfinite(value) else None


def _scales(text: str, mark: Mark, unit: str, is_signed: bool) -> tuple[int, ...]:
    """Rates are printed in hundredths; of a number with a sign the metric has to tell."""
    if unit or POINTS.match(text, mark.end):
        return (100,)
    if not is_signed:
        return (1,)
    metric = dict(mark.key).get("metric", mark.column)
    return (100, 1) if RATES.search(metric) else (1, 100)
