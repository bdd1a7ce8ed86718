"""Shapes that tell lines apart without their colour."""

from __future__ import annotations

from pipeline.report.charts.scale import px

# Each from its middle, about seven pixels across.
SHAPES = (
    "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",
    "m-3.2-3.2h6.4v6.4h-6.4z",
    "m0-4l4 7h-8z",
    "m0-4.5l4.5 4.5l-4.5 4.5l-4.5-4.5z",
    "m0 4l4-7h-8z",
    "m-1.2-4h2.4v2.8h2.8v2.4h-2.8v2.8h-2.4v-2.8h-2.8v-2.4h2.8z",
    "m-4.5-1.7h9v3.4h-9z",
    "m-1.7-4.5h3.4v9h-3.4z",
)


def mark(number: int, x: float, y: float) -> str:
    """The shape of a number at a place, as a piece of a path."""
    return f"M{px(x)} {px(y)}{SHAPES[number % len(SHAPES)]}"
