"""pass@k and pass^k against k: a line a run of a benchmark, with its interval for new tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.report.charts import labels
from pipeline.report.charts.labels import Axis, Frame, Label, Part, text
from pipeline.report.charts.marks import mark
from pipeline.report.charts.scale import Scale, Tick, percent_ticks
from pipeline.report.content import Content, RunContent
from pipeline.report.figures import Row

LEFT, RIGHT, TOP, BOTTOM = 46, 706, 14, 264
LEGEND, ROW = 324, 20
MOST_RUNS = 8
# More bands than this lie on top of each other, and none can be read.
MOST_BANDS = 3
MOST_POINTS, MOST_MARKS = 48, 12
# Beyond this k is drawn by its logarithm.
LINEAR = 16


@dataclass(frozen=True)
class Points:
    """What is drawn of one run, by k."""

    run: RunContent
    at: list[Row]
    hat: list[Row]


@dataclass(frozen=True)
class Curve:
    """One run: paths, the mark that tells it apart, and its row of the legend."""

    number: int
    band: str
    line: str
    dashed: str
    marks: str
    y: float
    key: str
    labels: tuple[Label, ...]


@dataclass(frozen=True)
class PassCurve:
    """All of the picture."""

    frame: Frame
    upright: Axis
    level: Axis
    heads: tuple[Label, ...]
    curves: tuple[Curve, ...]
    x: Scale
    y: Scale


def geometry(key: Mapping[str, str], content: Content) -> PassCurve | None:
    """Every run of the benchmark with more than one repeat."""
    runs = [run for run in content.runs if run.benchmark == key.get("benchmark")]
    known = [found for found in map(_points, runs) if len(found.at) > 1]
    shown = known[:MOST_RUNS]
    if not shown:
        return None
    k_max = max(found.at[-1].k.value for found in shown)
    x = Scale(1, k_max, LEFT + 14, RIGHT - 14, is_log=k_max > LINEAR)
    y = Scale(0, 1, BOTTOM, TOP)
    return PassCurve(
        frame=_frame(key, shown, n_single=len(runs) - len(known), n_more=len(known) - len(shown)),
        upright=labels.axis_below(_k_ticks(k_max), x.at, BOTTOM, BOTTOM + 4),
        level=labels.axis_left(percent_ticks(0, 1, most=5), y.at, LEFT, RIGHT),
        heads=(
            Label(round((LEFT + RIGHT) / 2, 1), BOTTOM + 36, text("k, attempts"), "middle", "tick"),
        ),
        curves=tuple(
            _curve(found, place, x, y, with_band=len(shown) <= MOST_BANDS)
            for place, found in enumerate(shown)
        ),
        x=x,
        y=y,
    )


def _points(run: RunContent) -> Points:
    known = [row for row in run.bands if labels.is_known(row.value)]
    at = [row for row in known if row.metric == "pass_at"]
    hat = [row for row in known if row.metric == "pass_hat"]
    return Points(run, at, hat)


def _k_ticks(k_max: int) -> list[Tick]:
    if k_max <= LINEAR:
        return [Tick(k, str(k)) for k in range(1, k_max + 1)]
    powers = [2**power for power in range(k_max.bit_length()) if 2**power <= k_max]
    return [Tick(k, str(k)) for k in powers]


def _curve(found: Points, place: int, x: Scale, y: Scale, *, with_band: bool) -> Curve:
    at, hat = _thin(found.at, MOST_POINTS), _thin(found.hat, MOST_POINTS)
    top = LEGEND + ROW * place
    return Curve(
        number=place + 1,
        band=_band(at, x, y) if with_band else "",
        line=_line(at, x, y),
        dashed=_line(hat, x, y),
        marks="".join(
            mark(place, x.at(row.k.value), y.at(row.value.value))
            for row in [*_thin(at, MOST_MARKS), *_thin(hat, MOST_MARKS)]
        ),
        y=top,
        key=mark(place, LEFT + 14, top - 4),
        labels=(
            labels.named(LEFT + 36, top, found.run.run_id, 256),
            Label(400, top, _ends(found.at[-1], "@", with_interval=True)),
            Label(RIGHT, top, _ends(found.hat[-1], "^") if found.hat else text("n/a"), "end"),
        ),
    )


def _ends(last: Row, sign: str, *, with_interval: bool = False) -> tuple[Part, ...]:
    told = text(f"pass{sign}{last.k.value} ", labels.percent(last.value))
    low, high = last.ci_new_tasks_low, last.ci_new_tasks_high
    if with_interval and labels.is_known(low) and labels.is_known(high):
        told += text(" (", labels.percent(low), " to ", labels.percent(high), ")")
    return told


def _line(rows: Sequence[Row], x: Scale, y: Scale) -> str:
    places = (f"{x.at(row.k.value):g} {y.at(row.value.value):g}" for row in rows)
    return "M" + "L".join(places) if rows else ""


def _bounded(rows: Sequence[Row]) -> list[Row]:
    """Those with an interval."""
    return [
        row
        for row in rows
        if labels.is_known(row.ci_new_tasks_low) and labels.is_known(row.ci_new_tasks_high)
    ]


def _band(rows: Sequence[Row], x: Scale, y: Scale) -> str:
    known = _bounded(rows)
    if len(known) < 2:
        return ""
    up = [f"{x.at(row.k.value):g} {y.at(row.ci_new_tasks_high.value):g}" for row in known]
    down = [f"{x.at(row.k.value):g} {y.at(row.ci_new_tasks_low.value):g}" for row in known]
    return "M" + "L".join([*up, *reversed(down)]) + "Z"


def _thin(rows: Sequence[Row], most: int) -> list[Row]:
    """Of many points some, evenly, with the first and the last."""
    if len(rows) <= most:
        return list(rows)
    places = sorted({round(n * (len(rows) - 1) / (most - 1)) for n in range(most)})
    return [rows[place] for place in places]


def _frame(key: Mapping[str, str], shown: list[Points], *, n_single: int, n_more: int) -> Frame:
    told = []
    for found in shown[:MOST_BANDS]:
        first, last = found.at[0], found.at[-1]
        told.append(
            f"{labels.name(found.run.run_id)}: pass@k from {labels.percent(first.value).text} at "
            f"k = {first.k.value} to {labels.percent(last.value).text} at k = {last.k.value}"
        )
        if found.hat:
            told[-1] += f", pass^k to {labels.percent(found.hat[-1].value).text}"
    if len(shown) > len(told):
        told.append(f"and {len(shown) - len(told)} more runs")
    return Frame(
        id=labels.figure_id("pass_curve", key),
        name="pass-curve",
        height=LEGEND + ROW * len(shown) - 8,
        title=f"pass@k and pass^k of {labels.name(key['benchmark'])}",
        desc="; ".join(told) + ".",
        caption=text(_caption(shown, n_single=n_single, n_more=n_more)),
    )


def _caption(shown: list[Points], *, n_single: int, n_more: int) -> str:
    told = "Solid: any of k attempts passes (pass@k). Dashed: all of them pass (pass^k)."
    if len(shown) <= MOST_BANDS and any(len(_bounded(found.at)) > 1 for found in shown):
        told += " Shaded: the 95% interval of pass@k for new tasks."
    if any(len({row.n_tasks.value for row in found.at}) > 1 for found in shown):
        told += " Where repeats are ragged, the tasks behind each k differ."
    if n_more:
        told += f" The first {len(shown)} of {len(shown) + n_more} runs."
    if n_single:
        told += f" Without a curve, since it has no repeats or no passes are known: {n_single}."
    return told
