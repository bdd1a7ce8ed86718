"""What is written in a chart: figures with their source, and names of others, made to fit."""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from pipeline.report import wording
from pipeline.report.charts.scale import Tick
from pipeline.report.figures import Figure
from pipeline.text import one_line

WIDTH = 720
LONGEST = 200
BRIEF = 300
# Letters are about so wide, in pixels at 12: no font is named, so none can be measured.
NARROW, USUAL, BROAD, SQUARE = 4.2, 6.6, 8.6, 12.4
# No XML has these, and no name needs them.
NO_XML = re.compile("[\ufffe\uffff]")


@dataclass(frozen=True)
class Part:
    """A piece of text; of a figure also where it came from."""

    text: str
    source: str = ""


@dataclass(frozen=True)
class Label:
    """Text at a place; `title` is a name in full where it was shortened."""

    x: float
    y: float
    parts: tuple[Part, ...]
    anchor: str = "start"
    kind: str = ""
    title: str = ""


@dataclass(frozen=True)
class Frame:
    """What every chart has around it."""

    id: str
    name: str
    height: float
    title: str
    desc: str
    caption: tuple[Part, ...]


@dataclass(frozen=True)
class Axis:
    """Lines through the picture, and what they stand for."""

    grid: str
    labels: tuple[Label, ...]


def figure_id(name: str, key: Mapping[str, str]) -> str:
    """One and the same for a chart of a key, another for any other."""
    told = "\n".join([name, *(f"{each}={key[each]}" for each in sorted(key))])
    digest = hashlib.sha256(told.encode("utf-8", "backslashreplace")).hexdigest()
    return f"chart-{name.replace('_', '-')}-{digest[:10]}"


def percent(figure: Figure) -> Part:
    """A rate as pages print it."""
    return _part(figure, lambda value: f"{100 * value:.1f}%")


def number(figure: Figure) -> Part:
    """A reward as pages print it."""
    return _part(figure, lambda value: wording.short(f"{value:.4f}"))


def amount(figure: Figure) -> Part:
    """Tokens or turns as pages print them."""
    return _part(figure, lambda value: wording.short(f"{value:,.1f}"))


def count(figure: Figure) -> Part:
    """A count, thousands apart."""
    return _part(figure, lambda value: f"{value:,}")


def level(metric: str, figure: Figure) -> Part:
    """A run's figure in the unit of its metric."""
    return percent(figure) if metric == "pass_at_1" else number(figure)


def change(metric: str, figure: Figure) -> Part:
    """A difference of two such figures, with its sign."""
    return _part(figure, wording.points if metric == "pass_at_1" else wording.signed)


def is_known(figure: Figure) -> bool:
    """Whether a figure has a place on a scale."""
    return figure.value is not None and math.isfinite(figure.value)


def text(*pieces: str | Part) -> tuple[Part, ...]:
    """A sentence of words and figures."""
    return tuple(Part(piece) if isinstance(piece, str) else piece for piece in pieces)


def said(*pieces: str | Part) -> str:
    """The same where only words can stand."""
    return "".join(piece if isinstance(piece, str) else piece.text for piece in pieces)


@lru_cache(maxsize=10_000)
def name(untrusted: str) -> str:
    """A name that is not ours: one line, bounded, inert."""
    return one_line(NO_XML.sub("\N{REPLACEMENT CHARACTER}", untrusted), LONGEST)


def brief(untrusted: str) -> str:
    """The same in a sentence."""
    return fitted(name(untrusted), BRIEF)


def named(x: float, y: float, untrusted: str, width: float, **more: str) -> Label:
    """A name where there is only so much room."""
    whole = name(untrusted)
    shown = fitted(whole, width)
    return Label(x, y, (Part(shown),), title="" if shown == whole else whole, **more)


@lru_cache(maxsize=10_000)
def fitted(whole: str, width: float) -> str:
    """As much of both ends as has room: names of runs often differ in their last letters."""
    if wide(whole) <= width:
        return whole
    room = (width - SQUARE) / 2
    return _fitting(whole, room) + "…" + _fitting(whole[::-1], room)[::-1]


def wide(written: str) -> float:
    """About how many pixels a text takes."""
    return sum(_letter(letter) for letter in written)


def axis_below(
    ticks: Sequence[Tick], place: Callable[[float], float], top: float, bottom: float
) -> Axis:
    """Upright lines with their values below."""
    grid = "".join(f"M{place(tick.value):g} {top:g}V{bottom:g}" for tick in ticks)
    labels = (
        Label(place(tick.value), bottom + 16, text(tick.text), "middle", "tick") for tick in ticks
    )
    return Axis(grid, tuple(labels))


def axis_left(
    ticks: Sequence[Tick], place: Callable[[float], float], left: float, right: float
) -> Axis:
    """Level lines with their values on the left."""
    grid = "".join(f"M{left:g} {place(tick.value):g}H{right:g}" for tick in ticks)
    labels = (
        Label(left - 6, place(tick.value) + 4, text(tick.text), "end", "tick") for tick in ticks
    )
    return Axis(grid, tuple(labels))


def _fitting(written: str, room: float) -> str:
    """The letters from the first on that have room."""
    widths = accumulate(_letter(letter) for letter in written)
    return written[: sum(width <= room for width in widths)]


def _letter(letter: str) -> float:
    if letter in "iljtfrI.,:;|!'()[]/\\ ":
        return NARROW
    if unicodedata.east_asian_width(letter) in "WF":
        return SQUARE
    return BROAD if letter.isupper() or letter in "mwMW@%" else USUAL


def _part(figure: Figure, formatted: Callable[[float], str]) -> Part:
    if figure.value is None or not math.isfinite(figure.value):
        return Part("n/a", figure.source)
    return Part(formatted(figure.value), figure.source)
