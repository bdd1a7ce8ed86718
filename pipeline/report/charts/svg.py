"""What every chart is drawn with: a bar, a dot with whiskers, a line, and rows of figures.

How each is written is in report_templates/charts.
"""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from html import escape
from typing import Any, NamedTuple

from markupsafe import Markup

from ...text import one_line
from .. import templates, wording
from ..figures import Figure

WIDTH, TOP, ROW, BAR = 600, 26, 24, 16
# Names end, then numbers, then the plot begins: on a narrow screen the plot is what scrolls.
NAME, VALUE, PLOT_START, PLOT_END = 176, 228, 238, 592
MOST_SAID = 12


class Part(NamedTuple):
    """A number as it is printed, and where it came from."""

    text: str
    source: str = ""


Piece = str | Part
Tick = tuple[float, str]


class Scale(NamedTuple):
    """A range of values on a stretch of the picture."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float | None) -> float:
        share = ((value or 0) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1) + 0.0


class Line(NamedTuple):
    """A row of a chart: a name that is not ours, a value for each column, and what is drawn."""

    name: str
    values: Sequence[Sequence[Piece]]
    # By the macro of its chart, or already.
    drawn: Any
    kind: str = ""


def part(figure: Figure, form: str) -> Part:
    text = wording.FORMATS[form](figure.value) if is_known(figure) else "n/a"
    return Part(text, figure.source)


count, percent = partial(part, form="count"), partial(part, form="pct")


def level(metric: str, figure: Figure) -> Part:
    return part(figure, "pct" if metric == "pass_at_1" else "num")


def change(metric: str, figure: Figure) -> Part:
    """A difference of two such figures, with its sign."""
    return part(figure, "points" if metric == "pass_at_1" else "signed")


def is_known(*figures: Figure) -> bool:
    """Whether figures have a place on a scale."""
    return all(each.value is not None and math.isfinite(each.value) for each in figures)


def scale(values: Sequence[float], start: float, end: float) -> Scale | None:
    """From 0 or below to the largest; none where the distance is no number."""
    low, high = min(0.0, *values), max(0.0, *values) or (0.0 if min(values) < 0 else 1.0)
    is_drawable = high - low > 1e-200 and math.isfinite(10 * high - 10 * low)
    return Scale(low, high, start, end) if is_drawable else None


def ticks(low: float, high: float, metric: str = "") -> list[Tick]:
    """Round values between two, about as many as fit; of rates in per cent."""
    unit, sign = (100, "%") if metric == "pass_at_1" else (1, "")
    low, high = unit * low, unit * high
    wide = (high - low) / 6
    ten = 10.0 ** math.floor(math.log10(wide))
    step = ten * next(each for each in (1, 2, 5, 10) if each >= wide / ten - 1e-9)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    form = f",.{digits}f" if digits <= 6 and max(abs(low), abs(high)) < 1e6 else ".3g"
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [(n * step / unit, f"{n * step + 0.0:{form}}{sign}") for n in range(first, last + 1)]


def px(value: float) -> str:
    return wording.short(f"{value:.1f}")


# A name that is not ours: one line, bounded.
inert = lru_cache(maxsize=10_000)(one_line)


@lru_cache(maxsize=10_000)
def fitted(whole: str, width: float) -> str:
    """As much of both ends as has room: names of runs often differ in their last letters."""
    shown, n_characters = whole, len(whole) // 2
    while wide(shown) > width and n_characters:
        n_characters -= 1
        shown = f"{whole[:n_characters]}…{whole[len(whole) - n_characters :]}"
    return shown


def wide(text: str) -> float:
    """About how many pixels a text takes: no font is named, so none can be measured."""
    n_wide = sum(unicodedata.east_asian_width(each) in "WF" for each in text)
    return 6.8 * len(text) + 5.6 * n_wide + 1.8 * sum(map(str.isupper, text))


def figure_id(name: str, key: Mapping[str, str]) -> str:
    """One and the same for a chart of a key, another for any other."""
    text = "\n".join([name, *(f"{each}={key[each]}" for each in sorted(key))])
    digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
    return f"chart-{name.replace('_', '-')}-{digest[:10]}"


def first(lines: Sequence[Line], n_all: int, what: str) -> str:
    """Of a chart that shows only some of them."""
    return f" The first {len(lines)} of {n_all} {what}." if len(lines) < n_all else ""


@cache
def macros(name: str) -> dict[str, Callable[..., Markup]]:
    environment = templates.environment("charts", None, autoescape=True)
    environment.filters |= {
        "px": px,
        "inert": inert,
        "fitted": fitted,
        "wide": wide,
        "count": count,
        "inside": lambda text: Markup(escape(text)),
    }
    environment.globals |= {
        "width": WIDTH,
        "first_row": TOP,
        "row_height": ROW,
        "bar_height": BAR,
        "name_ends": NAME,
        "value_ends": VALUE,
        "left": PLOT_START,
        "right": PLOT_END,
        "most_said": MOST_SAID,
        "ticks": ticks,
        "level": level,
        "first": first,
        "metrics": wording.WORDS["metrics"],
    }
    return vars(environment.get_template(f"{name}.svg.j2").module)
