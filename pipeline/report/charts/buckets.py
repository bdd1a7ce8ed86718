"""The tasks of each run of a benchmark by bucket: a stacked bar a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.report.charts import labels
from pipeline.report.charts.labels import Frame, Label, Part, text
from pipeline.report.charts.scale import Scale
from pipeline.report.content import Content, RunContent

LEFT, RIGHT, TOP, ROW, BAR = 200, 640, 30, 28, 20
MOST_RUNS = 40
BUCKETS = ("always", "sometimes", "never", "missing")


@dataclass(frozen=True)
class Piece:
    """The tasks of one bucket of one run."""

    bucket: str
    x: float
    width: float


@dataclass(frozen=True)
class Bar:
    """One run."""

    y: float
    pieces: tuple[Piece, ...]
    labels: tuple[Label, ...]


@dataclass(frozen=True)
class Buckets:
    """All of the picture; `keys` are the squares beside the words of the legend."""

    frame: Frame
    bar: float
    keys: tuple[Piece, ...]
    heads: tuple[Label, ...]
    bars: tuple[Bar, ...]


def geometry(key: Mapping[str, str], content: Content) -> Buckets | None:
    """Every run of the benchmark whose buckets are known."""
    runs = [run for run in content.runs if run.benchmark == key.get("benchmark")]
    known = [run for run in runs if _counts(run)]
    shown = known[:MOST_RUNS]
    if not shown:
        return None
    keys, heads = _legend()
    return Buckets(
        frame=_frame(key, shown, n_unknown=len(runs) - len(known), n_more=len(known) - len(shown)),
        bar=BAR,
        keys=keys,
        heads=heads,
        bars=tuple(_bar(run, TOP + ROW * place) for place, run in enumerate(shown)),
    )


def _counts(run: RunContent) -> dict[str, int]:
    """Tasks by bucket; none where one is not known, or there is no task."""
    found = {row.bucket: row.n_tasks.value for row in run.buckets}
    is_whole = set(found) == set(BUCKETS) and None not in found.values()
    return found if is_whole and sum(found.values()) else {}


def _legend() -> tuple[tuple[Piece, ...], tuple[Label, ...]]:
    keys, heads, x = [], [], float(LEFT)
    for bucket in BUCKETS:
        keys.append(Piece(bucket, x, 12))
        heads.append(Label(x + 17, 16, text(bucket)))
        x = round(x + 38 + labels.wide(bucket), 1)
    return tuple(keys), tuple(heads)


def _bar(run: RunContent, y: float) -> Bar:
    counts, base = _counts(run), y + BAR - 6
    scale = Scale(0, sum(counts.values()), LEFT, RIGHT)
    pieces, before = [], 0
    written = [labels.named(LEFT - 8, base, run.run_id, LEFT - 12, anchor="end")]
    for row in sorted(run.buckets, key=lambda row: BUCKETS.index(row.bucket)):
        start, end = scale.at(before), scale.at(before + row.n_tasks.value)
        before += row.n_tasks.value
        if end > start:
            pieces.append(Piece(row.bucket, start, round(end - start, 1)))
        inside = labels.count(row.n_tasks)
        if end - start >= labels.wide(inside.text) + 6:
            middle = round((start + end) / 2, 1)
            written.append(Label(middle, base, (inside,), "middle", "inside"))
    whole = run.headline.n_tasks
    total = labels.count(whole) if whole.value == before else Part(f"{before:,}")
    written.append(Label(RIGHT + 8, base, text(total, " task" if before == 1 else " tasks")))
    return Bar(y, tuple(pieces), tuple(written))


def _frame(
    key: Mapping[str, str], shown: list[RunContent], *, n_unknown: int, n_more: int
) -> Frame:
    told = [
        f"{labels.name(run.run_id)}: "
        + ", ".join(f"{_counts(run)[bucket]:,} {bucket}" for bucket in BUCKETS)
        for run in shown[:4]
    ]
    if len(shown) > len(told):
        told.append(f"and {len(shown) - len(told)} more runs")
    caption = (
        "Tasks by how their scored attempts ended: all passed, some did, none did, none scored."
    )
    if n_more:
        caption += f" The first {len(shown)} of {len(shown) + n_more} runs."
    if n_unknown:
        caption += (
            f" Left out, since it is not settled what passes or nothing is known: {n_unknown}."
        )
    return Frame(
        id=labels.figure_id("buckets", key),
        name="buckets",
        height=TOP + ROW * len(shown),
        title=f"Tasks of {labels.name(key['benchmark'])} by bucket",
        desc="; ".join(told) + ".",
        caption=text(caption),
    )
