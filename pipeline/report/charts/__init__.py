"""Content -> charts, each a `<figure>` with inline SVG: bars, dots with whiskers, or lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from markupsafe import Markup

from pipeline.report.charts import svg
from pipeline.report.charts.svg import LEFT, RIGHT, ROW, TOP, VALUE, Line, Piece, Scale, is_known
from pipeline.report.comparisons import Change, Ledger
from pipeline.report.content import Content, RunContent
from pipeline.report.figures import Figure, Row
from pipeline.report.sentences import EFFECTS, METRICS, widest

Key = Mapping[str, str]
MOST_ROWS = 40
BUCKETS = ("always", "sometimes", "never", "missing")
NOTHING = Figure(None, "")


def draw(name: str, key: Key, content: Content) -> str:
    """The chart of a name about what the key names; nothing where there is nothing to draw."""
    return CHARTS[name](key, content) if name in CHARTS else ""


def _run(key: Key, content: Content) -> RunContent | None:
    return next((each for each in content.runs if each.run_id == key.get("run_id")), None)


def _runs(key: Key, content: Content) -> list[RunContent]:
    return [run for run in content.runs if run.benchmark == key.get("benchmark")]


def _first(n_shown: int, n_all: int, what: str) -> str:
    return f" The first {n_shown} of {n_all} {what}." if n_shown < n_all else ""


def _funnel(key: Key, content: Content) -> str:
    """A bar per stage: what reached it, and hatched what was lost before it."""
    run = _run(key, content)
    rows = run.funnels[:MOST_ROWS] if run else []
    if run is None or not rows or not rows[0].n_reached.value:
        return ""
    # Where rows come out of order more may reach a stage than the first; some may be unknown.
    ends = [(row.n_reached.value or 0, row.n_lost.value or 0) for row in rows]
    x = Scale(0, max(map(sum, ends)), LEFT + 52, RIGHT - 92)
    lines = []
    for row, (n_reached, n_lost) in zip(rows, ends, strict=True):
        reached, end = x.at(n_reached), x.at(n_reached + n_lost)
        drawn = svg.bar("reached", x.start, reached)
        if n_lost:
            most = ", the most" if row.drop_rank.value == 1 else ""
            drawn += svg.bar("lost largest" if most else "lost", reached, end)
            drawn += svg.label(end + 6, 12, [svg.count(row.n_lost), f" lost{most}"])
        values = [[svg.count(row.n_reached)], [svg.percent(row.reach_rate)]]
        lines.append(Line(row.stage, values, drawn))
    columns = (VALUE, "attempts", "end"), (LEFT + 42, "of all", "end")
    return svg.figure(
        svg.figure_id("funnel", key),
        f"Workflow funnel of {svg.inert(run.run_id)}",
        lines,
        svg.rows(lines, columns),
        TOP + ROW * len(lines),
        "Attempts that reach each stage; hatched: lost at it.",
        _first(len(rows), len(run.funnels), "stages"),
    )


def _buckets(key: Key, content: Content) -> str:
    """A stacked bar per run: its tasks by bucket."""
    runs = _runs(key, content)
    by_run = [(run, {name: run.headline[f"n_{name}_tasks"] for name in BUCKETS}) for run in runs]
    # Without a threshold, or a task, there is no bar.
    known = [
        (run, found)
        for run, found in by_run
        if is_known(*found.values()) and any(each.value for each in found.values())
    ]
    if not known:
        return ""
    lines = []
    for run, found in known[:MOST_ROWS]:
        ends = [0, *accumulate(int(found[bucket].value or 0) for bucket in BUCKETS)]
        x, drawn = Scale(0, ends[-1], LEFT, RIGHT), Markup("")
        for bucket, start, end in zip(BUCKETS, map(x.at, ends), map(x.at, ends[1:]), strict=False):
            if end > start:
                drawn += svg.bar(bucket, start, end)
            inside = svg.count(found[bucket])
            if end - start >= svg.wide(inside.text) + 6:
                drawn += svg.label((start + end) / 2, 12, [inside], anchor="middle", kind="inside")
        lines.append(Line(run.run_id, [[svg.count(run.headline.n_tasks)]], drawn))
    drawn, at = Markup(""), float(LEFT)
    for bucket in BUCKETS:
        drawn += svg.bar(bucket, at, at + 12, y=4, high=12)
        drawn += svg.label(at + 17, 14, [bucket])
        at += 42 + svg.wide(bucket)
    said = [
        line._replace(values=[[f"{svg.count(found[bucket]).text} {bucket}"] for bucket in BUCKETS])
        for line, (_, found) in zip(lines, known, strict=False)
    ]
    n_unknown = len(runs) - len(known)
    return svg.figure(
        svg.figure_id("buckets", key),
        f"Tasks of {svg.inert(key['benchmark'])} by bucket",
        said,
        drawn + svg.rows(lines, [(VALUE, "tasks", "end")]),
        TOP + ROW * len(lines),
        "Tasks by how their scored attempts ended: all passed, some, none, or none scored.",
        _first(len(lines), len(known), "runs"),
        f" Left out, since no pass threshold is known: {n_unknown}." if n_unknown else "",
    )


# A name, its figure, both ends of its interval, and the tasks it is over.
Dots = Sequence[tuple[str, Figure, Figure, Figure, Figure]]


def _dots(id_: str, title: str, metric: str, dots: Dots, whole: Figure, *caption: str) -> str:
    """A row per dot; an upright line where the whole stands."""
    known = [each for each in (whole, *(one for dot in dots for one in dot[1:4])) if is_known(each)]
    x = svg.scale([each.value or 0.0 for each in known], LEFT + 6, 450) if known else None
    if x is None or not any(is_known(figure) for _, figure, *_ in dots):
        return ""
    x = x._replace(low=0, high=1) if metric == "pass_at_1" else x
    lines = []
    for name, figure, low, high, n_tasks in dots:
        ends, interval = None, list[Piece]()
        if is_known(low, high):
            ends = x.at(low.value), x.at(high.value)
            interval = [svg.level(metric, low), " to ", svg.level(metric, high)]
        drawn = svg.dot(x.at(figure.value), ends) if is_known(figure) else Markup("")
        first: list[Piece] = [svg.level(metric, figure)]
        lines.append(Line(name, [first, interval, [svg.count(n_tasks)]], drawn))
    columns = (VALUE, METRICS[metric], "end"), (462, "95% CI", "start"), (RIGHT, "tasks", "end")
    bottom = TOP + ROW * len(lines)
    drawn = svg.axis(svg.ticks(x.low, x.high, metric), x, TOP - 6, bottom)
    if is_known(whole):
        at = x.at(whole.value)
        drawn += svg.line("overall", [(at, TOP - 6), (at, bottom)])
        drawn += svg.label(
            at, 14, ["all ", svg.level(metric, whole)], anchor="middle", kind="strong"
        )
    return svg.figure(id_, title, lines, drawn + svg.rows(lines, columns), bottom + 24, *caption)


def _scores(key: Key, content: Content) -> str:
    """The score of each run of a benchmark with its interval."""
    runs = _runs(key, content)
    heads = [run.headline for run in runs[:MOST_ROWS]]
    metric = "pass_at_1" if any(is_known(head.pass_at_1) for head in heads) else "mean_reward"
    low, high = f"{metric}_ci_new_tasks_low", f"{metric}_ci_new_tasks_high"
    return _dots(
        svg.figure_id("scores", key),
        f"{METRICS[metric]} of the runs of {svg.inert(key.get('benchmark', ''))}",
        metric,
        [(row.run_id, row[metric], row[low], row[high], row.n_scored_tasks) for row in heads],
        NOTHING,
        f"Dot: {METRICS[metric]} over the scored tasks. Whiskers: 95% CI (new tasks).",
        _first(len(heads), len(runs), "runs"),
    )


def _slices(key: Key, content: Content) -> str:
    """The score of each slice of a run beside the run's own, by reward without a threshold."""
    run = _run(key, content)
    if run is None or not run.slices:
        return ""
    metric = "pass_at_1" if (is_rate := is_known(run.headline.pass_at_1)) else "mean_reward"
    dots = []
    for row in run.slices[:MOST_ROWS]:
        # The intervals of slices are of pass@1.
        ends = (row.ci_new_tasks_low, row.ci_new_tasks_high) if is_rate else (NOTHING, NOTHING)
        name = f"{row.slice_key} = {row.slice_value}"
        dots.append((name, row[metric], *ends, row.n_scored_tasks))
    return _dots(
        svg.figure_id("slices", key),
        f"{METRICS[metric]} of {svg.inert(run.run_id)} by slice",
        metric,
        dots,
        run.headline[metric],
        f"Dot: {METRICS[metric]} over the scored tasks of a slice. Dashed line: the whole run.",
        " Whiskers: 95% CI (new tasks)." if is_rate else "",
        _first(len(dots), len(run.slices), "slices"),
    )


# More lines or bands than this lie on top of each other.
MOST_LINES, MOST_BANDS, BOTTOM = 6, 3, 250


def _pass_curve(key: Key, content: Content) -> str:
    """pass@k and pass^k against k: a line per run of a benchmark with more than one repeat."""
    runs = _runs(key, content)
    estimates = [(run.run_id, _estimates(run, "at"), _estimates(run, "hat")) for run in runs]
    known = [each for each in estimates if len(each[1]) > 1]
    if not (shown := known[:MOST_LINES]):
        return ""
    most = max(at[-1].k.value for _, at, _ in shown)
    x, y = Scale(1, most, 60, RIGHT - 14), Scale(0, 1, BOTTOM, 14)

    def points(rows: Sequence[Row], column: str) -> list[tuple[float, float]]:
        return [(x.at(row.k.value), y.at(row[column].value)) for row in rows]

    every = [(k, str(k)) for k in range(1, most + 1) if k % -(-most // 16) == 0 or k == 1]
    drawn = svg.axis(every, x, BOTTOM, BOTTOM + 4)
    for value, text in svg.ticks(0, 1, "pass_at_1"):
        drawn += svg.line("grid", [(46, y.at(value)), (RIGHT, y.at(value))])
        drawn += svg.label(40, y.at(value) + 4, [text], anchor="end", kind="tick")
    lines, is_banded = list[Line](), False
    for place, (run_id, at, hat) in enumerate(shown):
        number, last = f"run-{place + 1}", at[-1]
        low, high = last.ci_new_tasks_low, last.ci_new_tasks_high
        bounded = [row for row in at if is_known(row.ci_new_tasks_low, row.ci_new_tasks_high)]
        if len(shown) <= MOST_BANDS and len(bounded) > 1:
            is_banded, area = True, points(bounded, "ci_new_tasks_high")
            area += points(bounded, "ci_new_tasks_low")[::-1]
            drawn += svg.line(f"band {number}", area, end="Z")
        any_of, all_of = points(at, "value"), points(hat, "value")
        drawn += svg.line(f"line {number}", any_of) + svg.line(f"dashed {number}", all_of)
        drawn += svg.marks(place, [any_of[0], any_of[-1], *all_of[-1:]])
        values: list[list[Piece]] = [[f"pass@{last.k.value} ", svg.percent(last.value)], ["n/a"]]
        if is_known(low, high):
            values[0] += [" (", svg.percent(low), " to ", svg.percent(high), ")"]
        if hat:
            values[1] = [f"pass^{hat[-1].k.value} ", svg.percent(hat[-1].value)]
        legend = svg.line(f"line {number}", [(LEFT, 8), (LEFT + 28, 8)])
        lines.append(Line(run_id, values, legend + svg.marks(place, [(LEFT + 14, 8)])))
    columns = (LEFT + 40, "any of k passes", "start"), (RIGHT, "all of k pass", "end")
    n_others = len(runs) - len(known)
    return svg.figure(
        svg.figure_id("pass_curve", key),
        f"pass@k and pass^k of {svg.inert(key['benchmark'])}",
        lines,
        drawn + svg.rows(lines, columns, BOTTOM + 22),
        BOTTOM + 22 + TOP + ROW * len(lines),
        "By k attempts. Solid: any of k passes (pass@k). Dashed: all of k pass (pass^k).",
        " Shaded: 95% CI (new tasks) of pass@k." if is_banded else "",
        _first(len(shown), len(known), "runs"),
        f" No curve, for lack of repeats or a pass threshold: {n_others}." if n_others else "",
    )


def _estimates(run: RunContent, name: str) -> list[Row]:
    return [row for row in run.estimates if row.metric == f"pass_{name}" and is_known(row.value)]


# What adds up to a change but for the last bits.
SAME = 1e-9


class Panel(NamedTuple):
    """A ledger as it is drawn: both ends, the running total, and what it is split by and over."""

    ledger: Ledger
    start: Figure
    end: Figure
    over: str
    levels: list[float]
    x: Scale


def _waterfall(key: Key, content: Content) -> str:
    """Why a figure changed: from the base's through the lines of a ledger to the candidate's."""
    names = key.get("base", ""), key.get("candidate", "")
    found = [each for each in content.comparisons if (each.base, each.candidate) == names]
    changes = [one for each in found for one in each.changes if one.metric == key.get("metric")]
    panels = [panel for each in changes for one in chosen(each) if (panel := _panel(each, one))]
    if not panels:
        return ""
    id_, metric = svg.figure_id("waterfall", key), changes[0].metric
    unit = " points" if metric == "pass_at_1" else ""
    drawn, top = Markup(""), 0.0
    said, caption = list[Line](), list[Piece]()
    for panel in panels:
        lines = _waterfall_lines(panel, names, metric)
        bottom = top + TOP + ROW * len(lines)
        by = panel.ledger.slice_key and f" by {svg.fitted(svg.inert(panel.ledger.slice_key), 300)}"
        title = f"{panel.ledger.name.capitalize()}{by}"
        drawn += svg.axis(svg.ticks(panel.x.low, panel.x.high, metric), panel.x, top + 22, bottom)
        drawn += svg.label(4, top + 14, [f"{title}, over {panel.over}"], kind="strong")
        drawn += svg.rows(lines, [(VALUE, "", "end")], top)
        said, top = said + lines, bottom + 30
        start, end = svg.level(metric, panel.start), svg.level(metric, panel.end)
        total = svg.change(metric, panel.ledger.total.total_shown)
        caption += [f"{title}: the bars add up to ", total, f"{unit}, from ", start, " to ", end]
        before, moved, after = (float(each.text.rstrip("%")) for each in (start, total, end))
        is_sum = abs(before + moved - after) < SAME * max(1, abs(after))
        caption.append(f" over {panel.over}{'' if is_sum else ' (each is rounded)'}. ")
    title = f"Why {METRICS[metric]} changed from {svg.inert(names[0])} to {svg.inert(names[1])}"
    caption.append("Plain bars are gains, hatched bars losses.")
    return svg.figure(id_, title, said, drawn, top - 6, *caption)


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


def _panel(change: Change, ledger: Ledger) -> Panel | None:
    """With the ends that its lines lead from and to: of all tasks, or of those of both runs."""
    row = change.row
    ends = [
        (row.base_value, row.candidate_value, "all tasks of each run"),
        (row.base_common, row.candidate_common, "the tasks of both runs"),
    ]
    for start, end, over in ends if ledger.total.explains == "all tasks" else reversed(ends):
        moves = (float(line.amount.value) for line in _lines(ledger))
        levels = list(accumulate(moves, initial=float(start.value or 0)))
        x = svg.scale(levels, LEFT, RIGHT)
        if x is None or not is_known(start, end):
            continue
        if abs(levels[-1] - (end.value or 0)) <= SAME * max(1, *map(abs, levels)):
            return Panel(ledger, start, end, over, levels, x)
    return None


def _waterfall_lines(panel: Panel, names: tuple[str, str], metric: str) -> list[Line]:
    steps = [
        (_line(row), svg.change(metric, row.shown), start, end)
        for row, start, end in zip(
            _lines(panel.ledger), panel.levels, panel.levels[1:], strict=False
        )
    ]
    whole = [(names[0], svg.level(metric, panel.start), 0.0, panel.levels[0])]
    whole += [(names[1], svg.level(metric, panel.end), 0.0, panel.levels[-1])]
    lines = list[Line]()
    for place, (name, value, start, end) in enumerate([whole[0], *steps, whole[1]]):
        is_end = place in (0, len(steps) + 1)
        kind = "end" if is_end else "gain" if end >= start else "loss"
        left, right = sorted((panel.x.at(start), panel.x.at(end)))
        drawn = svg.bar(kind, left, right)
        if place <= len(steps):
            drawn += svg.line("link", [(panel.x.at(end), svg.BAR), (panel.x.at(end), ROW)])
        lines.append(Line(name, [[value]], drawn, "strong" if is_end else ""))
    return lines


def _line(row: Row) -> str:
    if row.n_others.value is not None:
        return f"{row.n_others.value:,} other lines"
    return f"{row.line or 'in none of them'}{EFFECTS.get(row.effect, '')}"


CHARTS: Mapping[str, Callable[[Key, Content], str]] = {
    **{"scores": _scores, "buckets": _buckets, "waterfall": _waterfall},
    **{"pass_curve": _pass_curve, "funnel": _funnel, "slices": _slices},
}
