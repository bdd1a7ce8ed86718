"""A comparison's figures as a terminal prints them: bare, since a page carries the sources."""

from __future__ import annotations

from pipeline.report import sentences, wording
from pipeline.report.comparisons import Change
from pipeline.report.figures import Figure
from pipeline.text import one_line

LONGEST_NAME = 200


def bare(change: Change, figure: Figure) -> str:
    """A difference without its unit: a table names that once."""
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


def plain(change: Change, value: float) -> str:
    """A difference that is no figure of a relation, such as one turned round."""
    return wording.points(value) if change.metric == "pass_at_1" else wording.signed(value)


def points(figure: Figure) -> str:
    """A difference of rates, in points."""
    return "n/a" if figure.value is None else wording.points(figure.value)


def amount(figure: Figure) -> str:
    """Tokens, turns or seconds."""
    return "n/a" if figure.value is None else wording.short(f"{figure.value:,.1f}")


def signed_amount(figure: Figure) -> str:
    """A difference of these."""
    return "n/a" if figure.value is None else wording.signed_amount(figure.value)


PLAIN = sentences.Voice(
    percent=lambda figure: "n/a" if figure.value is None else f"{100 * figure.value:.1f}%",
    points=points,
    number=lambda figure: "n/a" if figure.value is None else wording.short(f"{figure.value:.4f}"),
    signed=lambda figure: "n/a" if figure.value is None else wording.signed(figure.value),
    count=lambda figure: "n/a" if figure.value is None else f"{figure.value:,}",
    chance=lambda figure: "n/a" if figure.value is None else wording.chance(figure.value),
    name=lambda text: one_line(text, LONGEST_NAME),
    text=lambda text: one_line(text, LONGEST_NAME),
)
