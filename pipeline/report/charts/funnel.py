"""The workflow funnel of a run: a bar a stage, what reached it and what was lost on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.report.charts import labels
from pipeline.report.charts.labels import Frame, Label, text
from pipeline.report.charts.scale import Scale
from pipeline.report.content import Content
from pipeline.report.figures import Row

LEFT, RIGHT, TOP, ROW, BAR = 200, 500, 28, 26, 16
REACHED, SHARE, LOST, MARK = 560, 618, 664, 674
MOST_STAGES = 40


@dataclass(frozen=True)
class Stage:
    """One stage: two bars beside each other, and what they are."""

    y: float
    reached: float
    lost: float
    is_largest: bool
    labels: tuple[Label, ...]


@dataclass(frozen=True)
class Funnel:
    """All of the picture."""

    frame: Frame
    left: float
    bar: float
    heads: tuple[Label, ...]
    stages: tuple[Stage, ...]


def geometry(key: Mapping[str, str], content: Content) -> Funnel | None:
    """The funnel of the run that the key names, if it has one."""
    run = next((each for each in content.runs if each.run_id == key.get("run_id")), None)
    rows = run.funnels[:MOST_STAGES] if run else []
    n_first = rows[0].n_reached.value if rows else 0
    if run is None or not n_first:
        return None
    # Where rows come out of order more may reach a stage than the first.
    most = max((row.n_reached.value or 0) + (row.n_lost.value or 0) for row in rows)
    scale = Scale(0, most, 0, RIGHT - LEFT)
    return Funnel(
        frame=_frame(key, run.run_id, rows, n_stages=len(run.funnels)),
        left=LEFT,
        bar=BAR,
        heads=(
            Label(REACHED, 16, text("rollouts"), "end", "tick"),
            Label(SHARE, 16, text("of all"), "end", "tick"),
            Label(LOST, 16, text("lost"), "end", "tick"),
        ),
        stages=tuple(_stage(row, TOP + ROW * place, scale) for place, row in enumerate(rows)),
    )


def _stage(row: Row, y: float, scale: Scale) -> Stage:
    base = y + BAR - 4
    written = [
        labels.named(LEFT - 8, base, row.stage, LEFT - 12, anchor="end"),
        Label(REACHED, base, (labels.count(row.n_reached),), "end"),
        Label(SHARE, base, (labels.percent(row.reach_rate),), "end"),
    ]
    if row.n_lost.value:
        written.append(Label(LOST, base, (labels.count(row.n_lost),), "end"))
    if row.is_largest_drop:
        written.append(Label(MARK, base, text("◀ most"), "start", "strong"))
    n_reached, n_lost = row.n_reached.value or 0, row.n_lost.value or 0
    reached, end = scale.at(n_reached), scale.at(n_reached + n_lost)
    return Stage(y, reached, round(end - reached, 1), row.is_largest_drop, tuple(written))


def _frame(key: Mapping[str, str], run_id: str, rows: list[Row], *, n_stages: int) -> Frame:
    first, last = rows[0], rows[-1]
    told = [
        f"Of {labels.count(first.n_reached).text} rollouts {labels.count(last.n_reached).text} "
        f"({labels.percent(last.reach_rate).text}) reach the last stage, {labels.name(last.stage)}."
    ]
    caption = list(text("How many rollouts reach each stage; hatched is what the stage lost. "))
    for row in rows:
        if row.is_largest_drop:
            told.append(
                f"Most are lost at {labels.name(row.stage)}: {labels.count(row.n_lost).text}."
            )
            caption += text("Most are lost at ", labels.brief(row.stage), ": ")
            caption += text(labels.count(row.n_lost), ".")
    if n_stages > len(rows):
        caption += text(f" The first {len(rows)} of {n_stages} stages.")
    return Frame(
        id=labels.figure_id("funnel", key),
        name="funnel",
        height=TOP + ROW * len(rows) + 4,
        title=f"Workflow funnel of {labels.name(run_id)}",
        desc=" ".join(told),
        caption=tuple(caption),
    )
