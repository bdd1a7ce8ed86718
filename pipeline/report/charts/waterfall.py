"""Why a figure changed: from the base's through the lines of a ledger to the candidate's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

from pipeline.report.charts import labels
from pipeline.report.charts.labels import Axis, Frame, Label, Part, text
from pipeline.report.charts.scale import Scale, around, is_drawable, percent_ticks, ticks
from pipeline.report.comparisons import Change, Comparison, Ledger
from pipeline.report.content import Content
from pipeline.report.figures import Figure, Row
from pipeline.report.sentences import EFFECTS, METRICS, widest

LEFT, RIGHT, VALUE, ROW, BAR = 236, 610, 706, 24, 14
HEAD, FOOT = 32, 30
# What adds up to a change but for the last bits.
SAME = 1e-9
# Bars begin at 0 where they would not hide the changes; else the axis is cut.
SHORTEST = 0.4


@dataclass(frozen=True)
class Told:
    """A ledger as it is drawn: its lines, both ends, and the tasks that they are over."""

    ledger: Ledger
    lines: list[Row]
    start: Figure
    end: Figure
    over: str

    @property
    def levels(self) -> list[float]:
        """The running total: the base, then after each line."""
        return list(accumulate([self.start.value or 0, *(row.amount.value for row in self.lines)]))


@dataclass(frozen=True)
class Bar:
    """From one value to another; a `kind` of end, gain or loss."""

    kind: str
    x: float
    width: float
    y: float
    is_cut: bool
    link: str
    labels: tuple[Label, ...]


@dataclass(frozen=True)
class Panel:
    """One ledger."""

    axis: Axis
    heads: tuple[Label, ...]
    bars: tuple[Bar, ...]
    x: Scale


@dataclass(frozen=True)
class Waterfall:
    """All of the picture."""

    frame: Frame
    bar: float
    panels: tuple[Panel, ...]


def geometry(key: Mapping[str, str], content: Content) -> Waterfall | None:
    """The change of one metric between the runs that the key names."""
    pair = (key.get("base"), key.get("candidate"))
    compared = next(
        (each for each in content.comparisons if (each.base, each.candidate) == pair), None
    )
    changes = compared.changes if compared else []
    change = next((each for each in changes if each.metric == key.get("metric")), None)
    if compared is None or change is None:
        return None
    told = [found for found in (_told(change, each) for each in chosen(change)) if found]
    panels, y = [], 0.0
    for each in told:
        panels.append(_panel(each, compared, change.metric, y))
        y += HEAD + ROW * (len(each.lines) + 2) + FOOT
    return Waterfall(_frame(key, compared, change, told, y), BAR, tuple(panels)) if told else None


def chosen(change: Change) -> list[Ledger]:
    """Task mix where tasks of one run only move it; then failure modes, or the widest other."""
    mix = [each for each in change.ledger("task mix") if len(_lines(each)) > 1]
    modes = [each for each in change.ledger("failure modes") if _lines(each)]
    others = [
        ledger
        for name in ("funnel", "bucket transitions", "slices")
        for ledger in change.ledger(name)
        if _lines(ledger)
    ]
    return [*mix, *(modes or widest(others))]


def _lines(ledger: Ledger) -> list[Row]:
    """What a page shows of it and moves; the last may stand for several."""
    return [row for row in ledger.rows if row.is_shown and (row.amount.value or row.shown.value)]


def _told(change: Change, ledger: Ledger) -> Told | None:
    """With the ends that its lines lead from and to: of all tasks, or of those of both runs."""
    row, lines = change.row, _lines(ledger)
    ends = [
        (row.base_value, row.candidate_value, "all tasks of each run"),
        (row.base_common, row.candidate_common, "the tasks of both runs"),
    ]
    for start, end, over in ends if ledger.total.explains == "all tasks" else reversed(ends):
        told = Told(ledger, lines, start, end, over)
        if not (labels.is_known(start) and labels.is_known(end) and is_drawable(told.levels)):
            continue
        if abs(told.levels[-1] - (end.value or 0)) <= SAME * max(1, *map(abs, told.levels)):
            return told
    return None


def _panel(told: Told, compared: Comparison, metric: str, top: float) -> Panel:
    levels = told.levels
    x = _scale(levels, metric)
    bottom = top + HEAD + ROW * len(levels) + ROW
    across = percent_ticks(x.low, x.high) if metric == "pass_at_1" else ticks(x.low, x.high)
    origin = min(max(0.0, x.low), x.high)
    bars = [_end(told.start, compared.base, metric, x, origin, top + HEAD)]
    for place, row in enumerate(told.lines):
        bars.append(
            _step(row, metric, x, levels[place : place + 2], top + HEAD + ROW * (place + 1))
        )
    bars.append(_end(told.end, compared.candidate, metric, x, origin, bottom - ROW))
    return Panel(
        axis=labels.axis_below(across, x.at, top + HEAD - 6, bottom - 4),
        heads=(Label(4, top + 16, text(_title(told.ledger), ", over ", told.over), kind="strong"),),
        bars=tuple(bars),
        x=x,
    )


def _scale(levels: list[float], metric: str) -> Scale:
    low, high = around(levels)
    if high - low >= SHORTEST * max(abs(low), abs(high)):
        return Scale(*around(levels, zero=True), LEFT, RIGHT)
    room = 0.15 * (high - low)
    # A rate is never more than all, though a running total may be.
    top = 1.0 if metric == "pass_at_1" and high <= 1 else high + room
    return Scale(low - room, min(high + room, top), LEFT, RIGHT)


def _end(figure: Figure, run: str, metric: str, x: Scale, origin: float, y: float) -> Bar:
    value = figure.value or 0
    start, end = sorted((x.at(origin), x.at(value)))
    return Bar(
        kind="end",
        x=start,
        width=round(end - start, 1),
        y=y,
        is_cut=origin == x.low > 0,
        link=f"M{x.at(value):g} {y + BAR:g}V{y + ROW:g}",
        labels=(
            labels.named(LEFT - 8, y + BAR - 3, run, LEFT - 12, anchor="end", kind="strong"),
            Label(VALUE, y + BAR - 3, (labels.level(metric, figure),), "end", "strong"),
        ),
    )


def _step(row: Row, metric: str, x: Scale, ends: list[float], y: float) -> Bar:
    start, end = x.at(ends[0]), x.at(ends[1])
    return Bar(
        kind="gain" if ends[1] >= ends[0] else "loss",
        x=min(start, end),
        width=round(abs(end - start), 1),
        y=y,
        is_cut=False,
        link=f"M{end:g} {y + BAR:g}V{y + ROW:g}",
        labels=(
            labels.named(LEFT - 8, y + BAR - 3, _name(row), LEFT - 12, anchor="end"),
            Label(VALUE, y + BAR - 3, (labels.change(metric, row.shown),), "end"),
        ),
    )


def _name(row: Row) -> str:
    if row.n_others.value is not None:
        return f"{row.n_others.value:,} other lines"
    return (row.line or "in none of them") + EFFECTS.get(row.effect, "")


def _title(ledger: Ledger) -> str:
    by = f" by {labels.brief(ledger.slice_key)}" if ledger.slice_key else ""
    return ledger.name.capitalize() + by


def _frame(
    key: Mapping[str, str], compared: Comparison, change: Change, told: list[Told], height: float
) -> Frame:
    desc: list[str] = []
    caption: list[Part] = []
    metric = change.metric
    unit = " points" if metric == "pass_at_1" else ""
    for each in told:
        start, end = labels.level(metric, each.start), labels.level(metric, each.end)
        total = labels.change(metric, each.ledger.total.total_shown)
        desc.append(
            f"{_title(each.ledger)}, over {each.over}: from {start.text} to {end.text}, "
            + ", ".join(
                f"{labels.name(_name(row))} {labels.change(metric, row.shown).text}"
                for row in each.lines
            )
        )
        caption += text(_title(each.ledger), ": the bars add up to ", total, f"{unit}, from ")
        caption += text(start, " to ", end, f" over {each.over}")
        caption += text(". " if _adds_up(start, total, end) else " (each rounded by itself). ")
    caption += text("Hatched bars take, plain ones give.")
    if any(_is_cut(each, metric) for each in told):
        caption += text(" The axis does not begin at 0.")
    return Frame(
        id=labels.figure_id("waterfall", key),
        name="waterfall",
        height=height,
        title=(
            f"Why {METRICS[metric]} changed from {labels.name(compared.base)} "
            f"to {labels.name(compared.candidate)}"
        ),
        desc=". ".join(desc) + ".",
        caption=tuple(caption),
    )


def _adds_up(start: Part, total: Part, end: Part) -> bool:
    """Whether a reader who adds what is printed gets the other end."""
    before, moved, after = (float(each.text.rstrip("%")) for each in (start, total, end))
    return abs(before + moved - after) < SAME * max(1, abs(after))


def _is_cut(told: Told, metric: str) -> bool:
    scale = _scale(told.levels, metric)
    return not scale.low <= 0 <= scale.high
