"""Content -> charts, each a `<figure>` with inline SVG: bars, dots with whiskers, or lines.

Places are worked out here; report_templates/charts draws and describes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from ..comparisons import Change, Ledger
from ..content import Content, RunContent
from ..figures import Figure, Row
from ..sentences import EFFECTS, widest
from . import svg
from .svg import PLOT_END, PLOT_START, Line, Piece, Scale, is_known

Key = Mapping[str, str]
# What the macro of a chart is given; none where there is nothing to draw.
Drawn = dict[str, Any] | None
MOST_ROWS = 40
BUCKETS = ("always", "sometimes", "never", "missing")
NOTHING = Figure(None, "")


@dataclass(frozen=True)
class Chart:
    """A chart: the columns of its key, and what works out the values that its macro draws."""

    key: tuple[str, ...]
    values: Callable[[Key, Content], Drawn]


# By name, which is also that of the macro in report_templates/charts/charts.svg.j2.
CHARTS: dict[str, Chart] = {}


def _chart(*key: str) -> Callable[[Callable[[Key, Content], Drawn]], Any]:
    def declared(values: Callable[[Key, Content], Drawn]) -> Callable[[Key, Content], Drawn]:
        CHARTS[values.__name__.removeprefix("_")] = Chart(key, values)
        return values

    return declared


def draw(name: str, key: Key, content: Content) -> str:
    """The chart of a name about what the key names; nothing where there is nothing to draw."""
    values = CHARTS[name].values(key, content) if name in CHARTS else None
    if values is None:
        return ""
    macro = svg.macros("charts").get(name)
    if macro is None:
        raise LookupError(f"write the macro {name} in report_templates/charts/charts.svg.j2")
    return macro(svg.figure_id(name, key), **values)


def _run(key: Key, content: Content) -> RunContent | None:
    return content.by_run_id.get(key.get("run_id", ""))


def _runs(key: Key, content: Content) -> list[RunContent]:
    return [run for run in content.runs if run.benchmark == key.get("benchmark")]


@_chart("run_id")
def _funnel(key: Key, content: Content) -> Drawn:
    run = _run(key, content)
    rows = run.funnels[:MOST_ROWS] if run else []
    if run is None or not rows or not rows[0].n_reached.value:
        return None
    # Where rows come out of order more may reach a stage than the first; some may be unknown.
    most = max((row.n_reached.value or 0) + (row.n_lost.value or 0) for row in rows)
    lines = [
        Line(row.stage, [[svg.count(row.n_reached)], [svg.percent(row.reach_rate)]], row)
        for row in rows
    ]
    x = Scale(0, most, PLOT_START + 52, PLOT_END - 92)
    name = content.name(run.run_id)
    return {"run_id": name, "lines": lines, "n_all": len(run.funnels), "x": x}


@_chart("benchmark")
def _buckets(key: Key, content: Content) -> Drawn:
    heads = [run.headline for run in _runs(key, content)]
    counts = [(head, [head[f"n_{name}_tasks"] for name in BUCKETS]) for head in heads]
    # Without a threshold, or a task, there is no bar.
    known = [each for each in counts if is_known(*each[1]) and any(one.value for one in each[1])]
    if not known:
        return None
    lines, described = list[Line](), list[Line]()
    for head, figures in known[:MOST_ROWS]:
        ends = [0, *accumulate(int(each.value or 0) for each in figures)]
        x = Scale(0, ends[-1], PLOT_START, PLOT_END)
        stack = [
            (name, each, *places)
            for name, each, places in zip(BUCKETS, figures, pairwise(map(x.at, ends)), strict=True)
        ]
        lines.append(Line(content.name(head.run_id), [[svg.count(head.n_tasks)]], stack))
        texts = [[f"{svg.count(each).text} {name}"] for name, each, *_ in stack]
        described.append(Line(content.name(head.run_id), texts, stack))
    return {
        "benchmark": key["benchmark"],
        "names": BUCKETS,
        "lines": lines,
        "description": described,
        "n_known": len(known),
        "n_unknown": len(heads) - len(known),
    }


# A name, its figure, both ends of its interval, and the tasks it is over.
Dots = Sequence[tuple[str, Figure, Figure, Figure, Figure]]


def _dots(metric: str, dots: Dots, whole: Figure) -> Drawn:
    known = [each for each in (whole, *(one for dot in dots for one in dot[1:4])) if is_known(each)]
    x = svg.scale([each.value or 0.0 for each in known], PLOT_START + 6, 450) if known else None
    if x is None or not any(is_known(figure) for _, figure, *_ in dots):
        return None
    x = x._replace(low=0, high=1) if metric == "pass_at_1" else x
    lines = []
    for name, figure, low, high, n_tasks in dots:
        ends, interval = None, list[Piece]()
        if is_known(low, high):
            ends = x.at(low.value), x.at(high.value)
            interval = [svg.level(metric, low), " to ", svg.level(metric, high)]
        at = x.at(figure.value) if is_known(figure) else None
        first: list[Piece] = [svg.level(metric, figure)]
        lines.append(Line(name, [first, interval, [svg.count(n_tasks)]], (at, ends)))
    return {"metric": metric, "lines": lines, "x": x, "whole": whole if is_known(whole) else None}


@_chart("benchmark")
def _scores(key: Key, content: Content) -> Drawn:
    runs = _runs(key, content)
    heads = [run.headline for run in runs[:MOST_ROWS]]
    metric = "pass_at_1" if any(is_known(head.pass_at_1) for head in heads) else "mean_reward"
    low, high = f"{metric}_ci_new_tasks_low", f"{metric}_ci_new_tasks_high"
    dots = [
        (content.name(row.run_id), row[metric], row[low], row[high], row.n_scored_tasks)
        for row in heads
    ]
    values = _dots(metric, dots, NOTHING)
    return values and {**values, "benchmark": key.get("benchmark", ""), "n_all": len(runs)}


@_chart("run_id")
def _slices(key: Key, content: Content) -> Drawn:
    run = _run(key, content)
    if run is None or not run.slices:
        return None
    # Without a threshold by reward; the intervals of slices are of pass@1.
    metric = "pass_at_1" if (is_rate := is_known(run.headline.pass_at_1)) else "mean_reward"
    dots = []
    for row in run.slices[:MOST_ROWS]:
        ends = (row.ci_new_tasks_low, row.ci_new_tasks_high) if is_rate else (NOTHING, NOTHING)
        name = f"{row.slice_key} = {row.slice_value}"
        dots.append((name, row[metric], *ends, row.n_scored_tasks))
    values = _dots(metric, dots, run.headline[metric])
    return values and {
        **values,
        "run_id": content.name(run.run_id),
        "n_all": len(run.slices),
    }


# More lines or bands than this lie on top of each other.
MOST_LINES, MOST_BANDS, BOTTOM = 6, 3, 250


@_chart("benchmark")
def _pass_curve(key: Key, content: Content) -> Drawn:
    """A line per run of a benchmark with more than one repeat."""
    runs = _runs(key, content)
    estimates = [
        (content.name(run.run_id), _estimates(run, "at"), _estimates(run, "hat")) for run in runs
    ]
    known = [each for each in estimates if len(each[1]) > 1]
    if not (shown := known[:MOST_LINES]):
        return None
    most = max(at[-1].k.value for _, at, _ in shown)
    x, y = Scale(1, most, 60, PLOT_END - 14), Scale(0, 1, BOTTOM, 14)

    def points(rows: Sequence[Row], column: str) -> list[tuple[float, float]]:
        return [(x.at(row.k.value), y.at(row[column].value)) for row in rows]

    lines = []
    for place, (name, at, hat) in enumerate(shown):
        bounded = [row for row in at if is_known(row.ci_new_tasks_low, row.ci_new_tasks_high)]
        band = list[tuple[float, float]]()
        if len(shown) <= MOST_BANDS and len(bounded) > 1:
            band = points(bounded, "ci_new_tasks_high")
            band += points(bounded, "ci_new_tasks_low")[::-1]
        last, values = at[-1], list[list[Piece]]()
        values.append([f"pass@{last.k.value} ", svg.percent(last.value)])
        if last in bounded:
            low, high = svg.percent(last.ci_new_tasks_low), svg.percent(last.ci_new_tasks_high)
            values[0] += [" (", low, " to ", high, ")"]
        values.append(["n/a"])
        if hat:
            values[1] = [f"pass^{hat[-1].k.value} ", svg.percent(hat[-1].value)]
        lines.append(Line(name, values, (place, points(at, "value"), points(hat, "value"), band)))
    return {
        "benchmark": key["benchmark"],
        "lines": lines,
        "n_known": len(known),
        "n_others": len(runs) - len(known),
        "x": x,
        "y": y,
        "ks": [(k, str(k)) for k in range(1, most + 1) if k % -(-most // 16) == 0 or k == 1],
    }


def _estimates(run: RunContent, name: str) -> list[Row]:
    return [row for row in run.estimates if row.metric == f"pass_{name}" and is_known(row.value)]


# What adds up to a change but for the last bits.
SAME = 1e-9


@_chart("base", "candidate", "metric")
def _waterfall(key: Key, content: Content) -> Drawn:
    base, candidate, metric = (key.get(name, "") for name in ("base", "candidate", "metric"))
    names = content.name(base), content.name(candidate)
    panels = [
        panel
        for each in content.comparisons
        if (each.base, each.candidate) == (base, candidate)
        for change in each.changes
        if change.metric == metric
        for ledger in chosen(change)
        if (panel := _panel(change, ledger, names))
    ]
    values = {"base": names[0], "candidate": names[1], "metric": metric, "panels": panels}
    return values if panels else None


def chosen(change: Change) -> list[Ledger]:
    """Task mix where tasks of one run only move it; then failure modes, or the widest other."""
    mix = [each for each in change.ledger("task mix") if len(_lines(each)) > 1]
    modes = [each for each in change.ledger("failure modes") if _lines(each)]
    names = ("funnel", "bucket transitions", "slices")
    others = [each for name in names for each in change.ledger(name) if _lines(each)]
    return [*mix, *(modes or widest(others))]


def _lines(ledger: Ledger) -> list[Row]:
    """What a page shows of it and moves; the last may stand for several."""
    return [row for row in ledger.rows if row.is_shown and (row.amount.value or row.shown.value)]


def _ends(row: Row, ledger: Ledger) -> tuple[Figure, Figure, str, list[float], Scale] | None:
    """What the lines of a ledger lead from and to: of all tasks, or of those of both runs."""
    ends = [
        (row.base_value, row.candidate_value, "all tasks of each run"),
        (row.base_common, row.candidate_common, "the tasks of both runs"),
    ]
    for start, end, over in ends if ledger.total.explains == "all tasks" else reversed(ends):
        moves = (float(line.amount.value) for line in _lines(ledger))
        levels = list(accumulate(moves, initial=float(start.value or 0)))
        x = svg.scale(levels, PLOT_START, PLOT_END)
        if x is None or not is_known(start, end):
            continue
        if abs(levels[-1] - (end.value or 0)) <= SAME * max(1, *map(abs, levels)):
            return start, end, over, levels, x
    return None


def _panel(change: Change, ledger: Ledger, names: tuple[str, str]) -> Drawn:
    """The bars of a ledger between those of both runs, each linked to the next."""
    metric = change.metric
    if (ends := _ends(change.row, ledger)) is None:
        return None
    start, end, over, levels, x = ends
    texts = [svg.level(metric, start), svg.change(metric, ledger.total.total_shown)]
    texts.append(svg.level(metric, end))
    steps = [("end", names[0], texts[0], 0.0, levels[0])]
    for line, (before, after) in zip(_lines(ledger), pairwise(levels), strict=True):
        kind = "gain" if after >= before else "loss"
        steps.append((kind, _line(line), svg.change(metric, line.shown), before, after))
    steps.append(("end", names[1], texts[2], 0.0, levels[-1]))
    lines = []
    for place, (kind, name, value, before, after) in enumerate(steps, start=1):
        start_x, end_x = sorted((x.at(before), x.at(after)))
        link = x.at(after) if place < len(steps) else None
        is_end = "strong" if kind == "end" else ""
        lines.append(Line(name, [[value]], (kind, start_x, end_x, link), is_end))
    first, moved, last = (float(each.text.rstrip("%")) for each in texts)
    is_sum = abs(first + moved - last) < SAME * max(1, abs(last))
    shown = dict(zip(("start", "total", "end"), texts, strict=True))
    return {"ledger": ledger, "over": over, "x": x, "lines": lines, "is_sum": is_sum, **shown}


def _line(row: Row) -> str:
    if row.n_others.value is not None:
        return f"{row.n_others.value:,} other lines"
    return f"{row.line or 'in none of them'}{EFFECTS.get(row.effect, '')}"
