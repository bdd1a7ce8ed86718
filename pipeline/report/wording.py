"""Words and digits that pages and commands share."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .declared import METRICS

WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
WORDS["metrics"] = {name: metric.words for name, metric in METRICS.items()}
PARTINGS, CAUSES = WORDS["partings"], WORDS["causes"]
SMALLEST_CHANCE = 0.0001
# Of numbers in JSON: enough for any comparison.
DIGITS = 12


def cause(name: str | None) -> str:
    """A root cause with its abbreviation; two of them where a label names two."""
    parts = (name or "").split("+")
    return " and ".join(f"{CAUSES[part]} ({part})" if part in CAUSES else part for part in parts)


def points(rate: float) -> str:
    """A difference of rates in points, with its sign; rounded as ledgers are, never to no side."""
    for scale, digits in ((10, 1), (100, 2), (1000, 3)):
        rounded = round(100 * scale * rate) / scale + 0.0
        if rounded:
            return f"{rounded:+.{digits}f}"
    return "+0.0"


def signed(number: float) -> str:
    """A difference of rewards, four digits after the point; rounded as ledgers are."""
    rounded = round(10_000 * number) / 10_000 + 0.0
    return f"{rounded:+.4f}".rstrip("0").rstrip(".") if rounded else "+0"


def signed_amount(value: float) -> str:
    """A difference of tokens, turns or seconds; what rounds to nothing is not below it."""
    return f"{round(value, 1) + 0.0:+,.1f}"


def chance(value: float) -> str:
    """A p or q: a small one is not 0."""
    return f"below {SMALLEST_CHANCE:.4f}" if value < SMALLEST_CHANCE else short(f"{value:.4f}")


def short(text: str) -> str:
    """A number without idle zeros."""
    digits = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if digits == "-0" else digits


def defined(format_value: Callable[[Any], str]) -> Callable[[Any], str]:
    """A format that prints what is undefined as n/a."""
    return lambda value: "n/a" if value is None or value != value else format_value(value)


# How a figure is printed, by the name that templates and declared.toml have for it.
FORMATS: Mapping[str, Callable[[Any], str]] = {
    "pct": lambda rate: f"{100 * rate:.1f}%",
    "points": points,
    "num": lambda value: short(f"{value:.4f}"),
    "signed": signed,
    "count": lambda number: f"{number:,}",
    "amount": lambda value: short(f"{value:,.1f}"),
    "chance": chance,
}


def rounded(value: Any) -> Any:
    """A float to twelve digits, null where it is not finite: sums wobble beyond; others as is."""
    if not isinstance(value, float):
        return value
    # Adding 0 makes a negative zero plain.
    return round(value, DIGITS) + 0.0 if math.isfinite(value) else None
