"""A comparison's figures as a terminal prints them: bare, since a page carries the sources."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pipeline.cli.paragraphs import inline
from pipeline.cli.tables import percent
from pipeline.report import sentences, wording
from pipeline.report.comparisons import Change
from pipeline.report.figures import Figure


def _defined(said: Callable[[Any], str]) -> Callable[[Figure], str]:
    """The same of a figure, which may be undefined."""
    return lambda figure: "n/a" if figure.value is None else said(figure.value)


PLAIN = sentences.Voice(
    percent=_defined(percent),
    points=_defined(wording.points),
    number=_defined(lambda value: wording.short(f"{value:.4f}")),
    signed=_defined(wording.signed),
    count=_defined(lambda value: f"{value:,}"),
    chance=_defined(wording.chance),
    name=inline,
    text=inline,
)
# Tokens, turns or seconds, and a difference of them.
amount = _defined(lambda value: wording.short(f"{value:,.1f}"))
signed_amount = _defined(wording.signed_amount)


def plain(change: Change, value: float) -> str:
    """A difference without its unit, which a table names once."""
    return wording.points(value) if change.metric == "pass_at_1" else wording.signed(value)


def bare(change: Change, figure: Figure) -> str:
    """The same of a figure."""
    return "n/a" if figure.value is None else plain(change, figure.value)


def span(change: Change, low: Figure, high: Figure) -> str:
    """From one end of an interval to the other, without its unit."""
    if low.value is None or high.value is None:
        return "n/a"
    return f"{bare(change, low)} to {bare(change, high)}"


def level(change: Change, figure: Figure) -> str | float | None:
    """A run's figure; a reward as a number, which a table sets to the right."""
    if change.metric == "pass_at_1":
        return PLAIN.percent(figure)
    return None if figure.value is None else round(float(figure.value), 4)
