"""Values to places in a picture: linear and logarithmic scales, their ticks, and short digits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from pipeline.report.wording import short

# Of the powers of ten between two ticks.
STEPS = (1, 2, 5, 10)
# A tick at the very edge may miss it by the last bit.
SLACK = 1e-9


@dataclass(frozen=True)
class Scale:
    """A stretch of values on a stretch of the picture; logarithms are of 1 + value."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def at(self, value: float) -> float:
        """Where a value stands, to a tenth."""
        low, high = self._level(self.low), self._level(self.high)
        share = (self._level(value) - low) / (high - low) if high > low else 0.5
        return round(self.start + share * (self.end - self.start), 1) + 0.0

    def value(self, place: float) -> float:
        """What stands at a place."""
        low, high = self._level(self.low), self._level(self.high)
        level = low + (place - self.start) / (self.end - self.start) * (high - low)
        return math.expm1(level) if self.is_log else level

    def _level(self, value: float) -> float:
        return math.log1p(max(value, 0.0)) if self.is_log else value


@dataclass(frozen=True)
class Tick:
    """A value beside an axis."""

    value: float
    text: str


def is_drawable(values: Iterable[float]) -> bool:
    """Whether there is a scale for the values: all finite, and so is their distance."""
    found = list(values)
    return bool(found) and math.isfinite(10 * max(found) - 10 * min(found))


def around(values: Iterable[float], *, zero: bool = False) -> tuple[float, float]:
    """From the least to the largest, with room where they are one and the same."""
    found = [*values, *([0.0] if zero else [])]
    low, high = min(found), max(found)
    if low < high:
        return low, high
    room = abs(low) / 2 or 0.5
    return low - room, high + room


def ticks(low: float, high: float, *, most: int = 6, whole: bool = False) -> list[Tick]:
    """Round values between two, about as many as fit."""
    step, digits = _step((high - low) / most, whole=whole)
    first, last = math.ceil(low / step - SLACK), math.floor(high / step + SLACK)
    return [Tick(n * step, plain(n * step, digits)) for n in range(first, last + 1)]


def log_ticks(low: float, high: float, *, most: int = 6) -> list[Tick]:
    """Of 0 and of 1, 2 and 5 by powers of ten those between two; only the powers where many."""
    tens = [10.0**power for power in range(math.ceil(math.log10(max(high, 1))) + 1)]
    every = [factor * ten for ten in tens for factor in (1, 2, 5)]
    found = _between(every, low, high)
    if len(found) > most:
        found = _between(tens, low, high)
    gap = -(-len(found) // most)
    kept = ([0.0] if low <= 0 else []) + found[:: max(gap, 1)]
    return [Tick(value, plain(value, 0)) for value in kept]


def percent_ticks(low: float, high: float, *, most: int = 6) -> list[Tick]:
    """The same for rates."""
    found = ticks(100 * low, 100 * high, most=most)
    return [Tick(tick.value / 100, f"{tick.text}%") for tick in found]


def plain(value: float, digits: int) -> str:
    """A number beside an axis: thousands and more in short."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if size <= abs(value) < 1e12:
            return short(f"{value / (1000 if unit == 'k' else size):.2f}") + unit
    if abs(value) >= 1e12 or digits > 6:
        return f"{value:.3g}"
    return short(f"{value:,.{digits}f}")


def px(value: float) -> str:
    """A coordinate, to a tenth, without idle digits."""
    return short(f"{value:.1f}")


def _between(values: list[float], low: float, high: float) -> list[float]:
    return [value for value in values if low - SLACK <= value <= high + SLACK]


def _step(wide: float, *, whole: bool) -> tuple[float, int]:
    """The next round distance, and the digits after the point that tell its multiples apart."""
    power = math.floor(math.log10(wide)) if wide > 0 else 0
    ten = 10.0**power
    factor = next(each for each in STEPS if each >= wide / ten - SLACK)
    if whole and factor * ten < 1:
        return 1.0, 0
    return factor * ten, max(0, -power)
