"""pass@1 of each slice of a run, with its interval, beside the run's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from pipeline.report.charts import labels
from pipeline.report.charts.labels import Axis, Frame, Label, text
from pipeline.report.charts.scale import Scale, around, is_drawable, percent_ticks, ticks
from pipeline.report.content import Content, RunContent
from pipeline.report.figures import Figure, Row
from pipeline.report.sentences import METRICS

LEFT, RIGHT, TOP, ROW = 200, 560, 34, 21
VALUE, TASKS = 632, 706
MOST_SLICES = 40


@dataclass(frozen=True)
class Dot:
    """One slice; without a place where it has no value."""

    x: float | None
    y: float
    interval: str
    labels: tuple[Label, ...]


@dataclass(frozen=True)
class Slices:
    """All of the picture."""

    frame: Frame
    axis: Axis
    overall: str
    heads: tuple[Label, ...]
    dots: tuple[Dot, ...]
    x: Scale


def geometry(key: Mapping[str, str], content: Content) -> Slices | None:
    """The first slices of the run, by field; by reward where it is not settled what passes."""
    run = next((each for each in content.runs if each.run_id == key.get("run_id")), None)
    if run is None:
        return None
    metric = "pass_at_1" if labels.is_known(run.headline.pass_at_1) else "mean_reward"
    shown = run.slices[:MOST_SLICES]
    values = [
        figure.value
        for figure in (getattr(row, metric) for row in [*shown, run.headline])
        if labels.is_known(figure)
    ]
    if not shown or len(values) < 2 or not is_drawable(values):
        return None
    x = _scale(metric, values)
    heads, dots, bottom = _rows(shown, metric, x)
    across = percent_ticks(0, 1) if metric == "pass_at_1" else ticks(x.low, x.high)
    whole: Figure = getattr(run.headline, metric)
    return Slices(
        frame=_frame(key, run, shown, metric, bottom + 26),
        axis=labels.axis_below(across, x.at, TOP - 6, bottom),
        overall=f"M{x.at(whole.value):g} {TOP - 10}V{bottom:g}" if labels.is_known(whole) else "",  # type: ignore[arg-type]
        heads=(*_titles(metric, whole, x), *heads),
        dots=dots,
        x=x,
    )


def _scale(metric: str, values: list[float]) -> Scale:
    low, high = (0.0, 1.0) if metric == "pass_at_1" else around(values, zero=True)
    return Scale(low, high, LEFT, RIGHT)


def _titles(metric: str, whole: Figure, x: Scale) -> tuple[Label, ...]:
    found = [
        Label(VALUE, 16, text(METRICS[metric]), "end", "tick"),
        Label(TASKS, 16, text("tasks"), "end", "tick"),
    ]
    if labels.is_known(whole) and whole.value is not None:
        parts = text("all ", labels.level(metric, whole))
        found.append(Label(x.at(whole.value), 16, parts, "middle", "strong"))
    return tuple(found)


def _rows(
    shown: list[Row], metric: str, x: Scale
) -> tuple[tuple[Label, ...], tuple[Dot, ...], float]:
    """A line for each field, and below it one for each of its values."""
    heads, dots, y = [], [], float(TOP)
    for field, rows in groupby(shown, key=lambda row: str(row.slice_key)):
        heads.append(labels.named(4, y + 14, field, LEFT - 16, kind="strong"))
        y += ROW
        for row in rows:
            dots.append(_dot(row, metric, x, y))
            y += ROW
    return tuple(heads), tuple(dots), y


def _dot(row: Row, metric: str, x: Scale, y: float) -> Dot:
    figure: Figure = getattr(row, metric)
    middle, base = y + 10, y + 14
    written = (
        labels.named(16, base, row.slice_value, LEFT - 28),
        Label(VALUE, base, (labels.level(metric, figure),), "end"),
        Label(TASKS, base, (labels.count(row.n_scored_tasks),), "end"),
    )
    low, high = row.ci_new_tasks_low, row.ci_new_tasks_high
    has_interval = metric == "pass_at_1" and labels.is_known(low) and labels.is_known(high)
    return Dot(
        x=x.at(figure.value) if labels.is_known(figure) and figure.value is not None else None,
        y=middle,
        interval=f"M{x.at(low.value):g} {middle:g}H{x.at(high.value):g}" if has_interval else "",
        labels=written,
    )


def _frame(
    key: Mapping[str, str], run: RunContent, shown: list[Row], metric: str, height: float
) -> Frame:
    known = [row for row in shown if labels.is_known(getattr(row, metric))]
    told = [f"All tasks: {labels.level(metric, getattr(run.headline, metric)).text}"]
    for word, choose in (("lowest", min), ("highest", max)):
        if known:
            row = choose(known, key=lambda each: getattr(each, metric).value)
            told.append(
                f"{word} {labels.level(metric, getattr(row, metric)).text} at "
                f"{labels.name(row.slice_key)} {labels.name(row.slice_value)}"
            )
    caption = (
        f"{METRICS[metric].capitalize() if metric != 'pass_at_1' else 'pass@1'} of the scored "
    )
    caption += "tasks of each slice; the upright line is the run's own."
    if metric == "pass_at_1":
        caption += " Level lines are 95% intervals for new tasks."
    if len(run.slices) > len(shown):
        caption += f" The first {len(shown)} of {len(run.slices)} slices."
    return Frame(
        id=labels.figure_id("slices", key),
        name="slices",
        height=height,
        title=f"{METRICS[metric]} of {labels.name(run.run_id)} by slice",
        desc="; ".join(told) + ".",
        caption=text(caption),
    )
