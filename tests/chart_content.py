"""Content of a report made by hand, a few rows each, for charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from pipeline.report.comparisons import Change, Comparison, Ledger
from pipeline.report.content import Content, RunContent
from pipeline.report.declared import OF_RUNS
from pipeline.report.figures import Row

BENCHMARK = "desk"
BUCKETS = ("always", "sometimes", "never", "missing")


class Values(dict[str, Any]):
    """Of the columns that are not given there is no value."""

    def __missing__(self, _: str) -> None:
        return None


def row(relation: str, key: str, **values: Any) -> Row:
    """A row of a relation by its key."""
    return Row(relation, tuple(key.split()), Values(values))


def run(
    run_id: str = "a",
    *,
    pass_at_1: float | None = 0.5,
    buckets: Sequence[int | None] = (None,) * 4,
    **tables: list[Row],
) -> RunContent:
    """A run with these tables and tasks by bucket, all others empty."""
    head = row(
        "run_metrics",
        "run_id",
        run_id=run_id,
        benchmark=BENCHMARK,
        pass_at_1=pass_at_1,
        mean_reward=0.5 if pass_at_1 is None else pass_at_1,
        n_tasks=20,
        n_scored_tasks=19,
        **{f"n_{name}_tasks": n for name, n in zip(BUCKETS, buckets, strict=True)},
        **{
            f"{metric}_ci_new_tasks_{end}": None if pass_at_1 is None else pass_at_1 * factor
            for metric in ("pass_at_1", "mean_reward")
            for end, factor in (("low", 0.5), ("high", 1.5))
        },
    )
    return RunContent(head, {**{table.name: [] for table in OF_RUNS}, **tables})


def content(runs: Sequence[RunContent] = (), actual: Sequence[Comparison] = ()) -> Content:
    """Of these runs and comparisons."""
    empty: dict[str, Any] = {each.name: [] for each in fields(Content)}
    return Content(**{**empty, "runs": list(runs), "comparisons": list(actual), "aliases": {}})


def bands(
    run_id: str, at: Sequence[float | None], hat: Sequence[float | None] = (), *, spread: Any = None
) -> list[Row]:
    """pass@k and pass^k from k = 1."""
    return [
        row(
            "estimates",
            "run_id metric k",
            run_id=run_id,
            metric=metric,
            k=k,
            value=value,
            n_tasks=20,
            ci_new_tasks_low=None if spread is None or value is None else value - spread,
            ci_new_tasks_high=None if spread is None or value is None else value + spread,
        )
        for metric, values in (("pass_at", at), ("pass_hat", hat))
        for k, value in enumerate(values, 1)
    ]


def funnel(run_id: str, reached: Sequence[int], *, names: Sequence[str] = ()) -> list[Row]:
    """Stages with so many rollouts."""
    lost = [before - n for before, n in zip([reached[0], *reached], reached, strict=False)]
    return [
        row(
            "funnel",
            "run_id stage_no",
            run_id=run_id,
            stage_no=place + 1,
            stage=names[place] if names else f"stage {place + 1}",
            n_reached=n,
            n_lost=lost[place],
            reach_rate=n / reached[0] if reached[0] else None,
            drop_rank=1 if lost[place] == max(lost) > 0 else None,
        )
        for place, n in enumerate(reached)
    ]


def slices(run_id: str, values: Sequence[float | None], *, name: str = "mail") -> list[Row]:
    """A slice a value."""
    return [
        row(
            "slice_metrics",
            "run_id slice_key slice_value",
            run_id=run_id,
            slice_key="category",
            slice_value=f"{name} {place}",
            pass_at_1=value,
            mean_reward=value,
            n_scored_tasks=4,
            ci_new_tasks_low=None if value is None else value / 2,
            ci_new_tasks_high=None if value is None else (1 + value) / 2,
        )
        for place, value in enumerate(values)
    ]


def ledger(name: str, lines: Sequence[tuple[str, float]], *, explains: str) -> Ledger:
    """Lines with their amounts, which are shown as they are."""
    total = sum(amount for _, amount in lines)
    return Ledger(
        name,
        "dropped",
        "",
        [
            row(
                "report.ledgers",
                "ledger line_no",
                ledger=name,
                line_no=place,
                line=line,
                effect="",
                amount=amount,
                shown=round(amount, 3),
                total_shown=round(total, 3),
                explains=explains,
                n_others=None,
                is_shown=True,
            )
            for place, (line, amount) in enumerate(lines, 1)
        ],
    )


def compared(
    ledgers: Sequence[Ledger], values: tuple[Any, Any], common: tuple[Any, Any], **names: str
) -> Comparison:
    """Base and candidate by pass@1: over all tasks of each, and over those of both."""
    pair = {"base": "a", "candidate": "b", **names}
    reported = row(
        "comparisons",
        "base candidate metric",
        **pair,
        metric="pass_at_1",
        base_value=values[0],
        candidate_value=values[1],
        base_common=common[0],
        candidate_common=common[1],
    )
    change = Change(reported, list(ledgers), [])
    return Comparison(
        **pair, changes=[change], settings=[], transitions=[], refused=[], metrics=[], flips=[]
    )
