"""What every chart is drawn with: a bar, a dot with whiskers, a line, and rows of figures."""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import NamedTuple

from pipeline.report import wording
from pipeline.report.figures import Figure
from pipeline.text import one_line

WIDTH, TOP, ROW, BAR = 600, 26, 24, 16
# Names end, then numbers, then the plot begins: on a narrow screen the plot is what scrolls.
NAME, VALUE, LEFT, RIGHT = 176, 228, 238, 592
MOST_SAID = 12
# Shapes tell lines apart without their colour; each from its middle, about seven pixels across.
MARKS = (
    "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",
    "m-3.2-3.2h6.4v6.4h-6.4z",
    "m0-4l4 7h-8z",
    "m0-4.5l4.5 4.5l-4.5 4.5l-4.5-4.5z",
    "m0 4l4-7h-8z",
    "m-1.2-4h2.4v2.8h2.8v2.4h-2.8v2.8h-2.4v-2.8h-2.8v-2.4h2.8z",
)


class Part(NamedTuple):
    """A number as it is printed, and where it came from."""

    text: str
    source: str = ""


Piece = str | Part
Tick = tuple[float, str]
# Where its values stand, what they are, and from which end.
Column = tuple[float, str, str]


class Scale(NamedTuple):
    """A range of values on a stretch of the picture."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float | None) -> float:
        """Where a value stands, to a tenth."""
        share = ((value or 0) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1) + 0.0


class Line(NamedTuple):
    """A row of a chart: a name that is not ours, a value for each column, and what is drawn."""

    name: str
    values: Sequence[Sequence[Piece]]
    drawn: str
    kind: str = ""


def percent(figure: Figure) -> Part:
    """A rate as pages print it."""
    return _part(figure, lambda value: f"{100 * value:.1f}%")


def count(figure: Figure) -> Part:
    """A count, thousands apart."""
    return _part(figure, lambda value: f"{value:,}")


def level(metric: str, figure: Figure) -> Part:
    """A run's figure in the unit of its metric."""
    number = _part(figure, lambda value: wording.short(f"{value:.4f}"))
    return percent(figure) if metric == "pass_at_1" else number


def change(metric: str, figure: Figure) -> Part:
    """A difference of two such figures, with its sign."""
    return _part(figure, wording.points if metric == "pass_at_1" else wording.signed)


def _part(figure: Figure, formatted: Callable[[float], str]) -> Part:
    return Part(formatted(figure.value or 0) if is_known(figure) else "n/a", figure.source)


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
    """A coordinate, to a tenth, without idle digits."""
    return wording.short(f"{value:.1f}")


def bar(kind: str, x: float, end: float, *, y: float = 0, high: float = BAR) -> str:
    """A bar from one place to another; the style sheet colours and hatches it by its kind."""
    width = px(end - x)
    return f'<path class="{kind}" d="M{px(x)} {px(y)}h{width}v{px(high)}h-{width}z"/>\n'


def dot(x: float, ends: tuple[float, float] | None) -> str:
    """A dot with its whiskers."""
    whiskers = ""
    if ends:
        low, high = map(px, ends)
        whiskers = f'<path class="interval" d="M{low} 4v8M{low} 8H{high}M{high} 4v8"/>\n'
    return f'{whiskers}<circle class="dot" cx="{px(x)}" cy="8" r="4.5"/>\n'


def line(kind: str, points: Sequence[tuple[float, float]], *, end: str = "") -> str:
    """A line through points; the end of its path may close it to an area."""
    places = "L".join(f"{px(x)} {px(y)}" for x, y in points)
    return f'<path class="{kind}" d="M{places}{end}"/>\n' if points else ""


def marks(number: int, points: Iterable[tuple[float, float]]) -> str:
    """The shape of a line at some of its points."""
    path = "".join(f"M{px(x)} {px(y)}{MARKS[number % len(MARKS)]}" for x, y in points)
    return f'<path class="mark run-{number + 1}" d="{path}"/>\n'


def axis(found: Iterable[Tick], x: Scale, top: float, bottom: float) -> str:
    """Upright lines with their values below."""
    places = [(x.at(value), text) for value, text in found]
    grid = "".join(f"M{px(place)} {px(top)}V{px(bottom)}" for place, _ in places)
    texts = (label(at, bottom + 16, text, anchor="middle", kind="tick") for at, text in places)
    return f'<path class="grid" d="{grid}"/>\n' + "".join(texts)


def rows(lines: Sequence[Line], columns: Sequence[Column], top: float = 0) -> str:
    """The heads of columns and below them each line, moved to its place."""
    drawn = "".join(
        label(x, top + 14, head, anchor=anchor, kind="tick") for x, head, anchor in columns
    )
    for place, each in enumerate(lines):
        values = "".join(
            label(x, 12, *value, anchor=anchor, kind=each.kind)
            for (x, _, anchor), value in zip(columns, each.values, strict=True)
        )
        whole = inert(each.name)
        shown = fitted(whole, NAME - 4)
        title = "" if shown == whole else whole
        name = label(NAME, 12, shown, anchor="end", kind=each.kind, title=title)
        moved = px(top + TOP + ROW * place)
        drawn += f'<g transform="translate(0 {moved})">\n{each.drawn}{name}{values}</g>\n'
    return drawn


def label(
    x: float, y: float, *pieces: Piece, anchor: str = "", kind: str = "", title: str = ""
) -> str:
    """Text at a place; `title` is a name in full where it was shortened."""
    more = f' text-anchor="{anchor}"' if anchor else ""
    more += f' class="{kind}"' if kind else ""
    full = f"<title>{escape(title)}</title>" if title else ""
    return f'<text x="{px(x)}" y="{px(y)}"{more}>{written(pieces, "tspan")}{full}</text>\n'


def written(pieces: Iterable[Piece], tag: str) -> str:
    """Words and figures; each figure says where it came from."""
    return "".join(
        f'<{tag} data-figure="{escape(piece.source)}">{escape(piece.text)}</{tag}>'
        if isinstance(piece, Part) and piece.source
        else escape(plain([piece]))
        for piece in pieces
    )


def plain(pieces: Iterable[Piece]) -> str:
    """The same where only words can stand."""
    return "".join(piece if isinstance(piece, str) else piece.text for piece in pieces)


@lru_cache(maxsize=10_000)
def inert(untrusted: str) -> str:
    """A name that is not ours: one line, bounded."""
    return one_line(untrusted)


@lru_cache(maxsize=10_000)
def fitted(whole: str, width: float) -> str:
    """As much of both ends as has room: names of runs often differ in their last letters."""
    shown, kept = whole, len(whole) // 2
    while wide(shown) > width and kept:
        kept -= 1
        shown = f"{whole[:kept]}…{whole[len(whole) - kept :]}"
    return shown


def wide(text: str) -> float:
    """About how many pixels a text takes: no font is named, so none can be measured."""
    n_wide = sum(unicodedata.east_asian_width(each) in "WF" for each in text)
    return 6.8 * len(text) + 5.6 * n_wide + 1.8 * sum(map(str.isupper, text))


def figure_id(name: str, key: Mapping[str, str]) -> str:
    """One and the same for a chart of a key, another for any other."""
    told = "\n".join([name, *(f"{each}={key[each]}" for each in sorted(key))])
    digest = hashlib.sha256(told.encode("utf-8", "backslashreplace")).hexdigest()
    return f"chart-{name.replace('_', '-')}-{digest[:10]}"


def figure(
    id_: str, title: str, lines: Sequence[Line], drawn: str, high: float, *caption: Piece
) -> str:
    """What every chart has around it: a heading, and its lines in words for who cannot see."""
    said = [" ".join([f"{inert(each.name)}:", *map(plain, each.values)]) for each in lines]
    said[MOST_SAID:] = [f"and {len(said) - MOST_SAID} more"] * (len(said) > MOST_SAID)
    return (
        f'<figure class="chart" id="{id_}">\n'
        f'<p class="heading" aria-hidden="true">{escape(title)}</p>\n'
        f'<svg viewBox="0 0 {WIDTH} {px(high)}" role="img" '
        f'aria-labelledby="{id_}-title {id_}-desc" font-size="12">\n'
        f'<title id="{id_}-title">{escape(title)}</title>\n'
        f'<desc id="{id_}-desc">{escape("; ".join(said))}.</desc>\n'
        f"{drawn}</svg>\n<figcaption>{written(caption, 'span')}</figcaption>\n</figure>\n"
    )
