"""What rollouts cost: histograms of output tokens and turns, passes above and failures below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.report.charts import labels
from pipeline.report.charts.labels import Axis, Frame, Label, Part, text
from pipeline.report.charts.scale import Scale, log_ticks, ticks
from pipeline.report.content import Content, RunContent
from pipeline.report.figures import Row

MEASURES = {"output_tokens": "output tokens", "turns": "turns"}
ABOVE, BELOW, UNSETTLED = "passed", "failed", "unsettled"
TOP, MIDDLE, BOTTOM, HEIGHT = 58, 138, 218, 246
GAP, LEFT, RIGHT = 20, 40, 8
# Of whole numbers side by side: fewer would be as wide as walls.
FEWEST = 6


@dataclass(frozen=True)
class Outcome:
    """The rollouts of one outcome: an outline, and the median across it."""

    name: str
    outline: str
    median: str
    labels: tuple[Label, ...]


@dataclass(frozen=True)
class Panel:
    """One measure."""

    below: Axis
    beside: Axis
    base: str
    heads: tuple[Label, ...]
    outcomes: tuple[Outcome, ...]
    x: Scale
    y: Scale


@dataclass(frozen=True)
class Resources:
    """All of the picture."""

    frame: Frame
    panels: tuple[Panel, ...]


def geometry(key: Mapping[str, str], content: Content) -> Resources | None:
    """The measures that the run has."""
    run = next((each for each in content.runs if each.run_id == key.get("run_id")), None)
    if run is None or not run.histograms:
        return None
    found = {name: [row for row in run.histograms if row.measure == name] for name in MEASURES}
    known = {name: rows for name, rows in found.items() if rows}
    width = (labels.WIDTH - GAP * (len(known) - 1)) / len(known)
    panels = tuple(
        _panel(name, rows, run, place * (width + GAP), width)
        for place, (name, rows) in enumerate(known.items())
    )
    return Resources(_frame(key, run, known), panels)


def _panel(measure: str, rows: list[Row], run: RunContent, left: float, width: float) -> Panel:
    low, high = min(row.low.value for row in rows), max(row.high.value for row in rows)
    high = max(high, low + FEWEST - 1)
    is_log = rows[0].is_log
    start, end = left + LEFT, left + width - RIGHT
    # A bin of whole numbers reaches halfway to its neighbours.
    x = Scale(max(low - 0.5, 0) if is_log else low - 0.5, high + 0.5, start, end, is_log=is_log)
    most = max(row.n_rollouts.value for row in rows)
    y = Scale(-most, most, BOTTOM, TOP)
    across = log_ticks(low, high) if is_log else ticks(low, high, whole=True)
    counts = [tick for tick in ticks(0, most, most=2, whole=True) if tick.value]
    mirrored = [*counts, *(type(tick)(-tick.value, tick.text) for tick in counts)]
    note = " (log axis)" if is_log else ""
    names = [each for each in (ABOVE, BELOW, UNSETTLED) if any(r.outcome == each for r in rows)]
    return Panel(
        below=labels.axis_below(across, x.at, BOTTOM, BOTTOM + 4),
        beside=labels.axis_left(mirrored, y.at, start, end),
        base=f"M{start:g} {MIDDLE:g}H{end:g}",
        heads=(Label(start, 14, text(MEASURES[measure] + note), kind="strong"),),
        outcomes=tuple(_outcome(each, measure, rows, run, x, y) for each in names),
        x=x,
        y=y,
    )


def _outcome(
    name: str, measure: str, rows: list[Row], run: RunContent, x: Scale, y: Scale
) -> Outcome:
    sign = -1 if name == BELOW else 1
    steps = "".join(
        f"M{x.at(row.low.value - 0.5):g} {MIDDLE}V{y.at(sign * row.n_rollouts.value):g}"
        f"H{x.at(row.high.value + 0.5):g}V{MIDDLE}z"
        for row in rows
        if row.outcome == name
    )
    median = _median(run, measure, name)
    edge = y.at(-y.high) if sign < 0 else y.at(y.high)
    head = Label(x.start, 30 if sign > 0 else 46, _named(name, median), "start", "outcome-" + name)
    if median is None:
        return Outcome(name, steps, "", (head,))
    return Outcome(name, steps, f"M{x.at(median.median.value):g} {MIDDLE}V{edge:g}", (head,))


def _median(run: RunContent, measure: str, outcome: str) -> Row | None:
    key = (measure, outcome)
    found = (row for row in run.resources if (row.measure, row.outcome) == key)
    return next((row for row in found if labels.is_known(row.median)), None)


def _named(outcome: str, median: Row | None) -> tuple[Part, ...]:
    sign = "▼ " if outcome == BELOW else "▲ "
    if median is None:
        return text(sign, outcome)
    middle = labels.amount(median.median)
    return text(sign, labels.count(median.n_rollouts), f" {outcome}, median ", middle)


def _frame(key: Mapping[str, str], run: RunContent, known: Mapping[str, list[Row]]) -> Frame:
    told = []
    for measure in known:
        medians = {each: _median(run, measure, each) for each in (ABOVE, BELOW, UNSETTLED)}
        parts = [
            f"{labels.amount(row.median).text} of {labels.count(row.n_rollouts).text} {each}"
            for each, row in medians.items()
            if row is not None
        ]
        told.append(f"Median {MEASURES[measure]}: {', '.join(parts) or 'n/a'}.")
    is_settled = any(row.outcome != UNSETTLED for rows in known.values() for row in rows)
    sides = "passes above the line, failures below" if is_settled else "what passes is not settled"
    caption = text(f"Rollouts by what they took, {sides}; dashed lines are medians.")
    for measure, rows in known.items():
        if rows[0].n_unknown.value:
            unknown = labels.count(rows[0].n_unknown)
            caption += text(f" Left out, their {MEASURES[measure]} unknown: ", unknown, ".")
    measures = " and ".join(MEASURES[measure] for measure in known)
    return Frame(
        id=labels.figure_id("resources", key),
        name="resources",
        height=HEIGHT,
        title=f"What rollouts of {labels.name(run.run_id)} took: {measures}",
        desc=" ".join(told),
        caption=caption,
    )
