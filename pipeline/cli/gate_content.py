"""What a policy is decided by: each metric's change over all common tasks, and without some."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from pipeline.analysis import stats
from pipeline.cli.lookup import Row, rows
from pipeline.profile import gate
from pipeline.report import Comparison
from pipeline.warehouse import Warehouse

# Missing rows count as failures; what a task took is known of scored rollouts only.
MEASURED = """
    with changes as (
        select
            base, candidate, metric, task_id, task_group,
            candidate_lowest - base_lowest as change,
            candidate_lowest - base_highest as lowest,
            candidate_highest - base_lowest as highest
        from staging.comparison_values
        where is_paired
        union all
        select
            base, candidate, metric || coalesce('/' || k, ''), task_id, task_id as task_group,
            candidate_value - base_value as change,
            candidate_value - base_value as lowest,
            candidate_value - base_value as highest
        from staging.measure_pairs
    ),
    chosen as (
        select
            *,
            count(*) over of_metric as n_tasks,
            -- Of one task unknown, the mean is.
            case when count(change) over of_metric = count(*) over of_metric then
                list_sum(list(change order by change) over of_metric) / count(*) over of_metric
            end as delta
        from changes
        where base = $1 and candidate = $2 and not list_contains($3, task_id)
        window of_metric as (partition by metric)
    ),
    grouped as (
        select
            metric, n_tasks, delta,
            sorted_sum(change - delta) as deviation,
            case when delta is not null then sorted_sum(lowest) end as lowest,
            case when delta is not null then sorted_sum(highest) end as highest
        from chosen
        group by metric, n_tasks, delta, task_group
    )
    select
        metric,
        n_tasks,
        delta,
        count(*) as n_groups,
        sqrt(count(*) / nullif(count(*) - 1, 0) * sorted_sum(deviation * deviation)) / n_tasks
            as se,
        sorted_sum(lowest) / n_tasks as bound_low,
        sorted_sum(highest) / n_tasks as bound_high,
        metric like 'pass%' or coalesce((
            select is_bounded from staging.comparison_levels as levels
            where base = $1 and candidate = $2 and levels.metric = grouped.metric
        ), false) as is_bounded
    from grouped
    group by metric, n_tasks, delta
    order by metric
"""
QUALITIES = """
    select metrics.run_id, metrics.coverage, health.clean_rate
    from run_metrics as metrics
    left join run_health as health using (run_id)
"""
COMMON = "select task_id from comparison_tasks where base = ? and candidate = ? and is_common"


def gates(
    warehouse: Warehouse, policy_path: Path, found: Sequence[Comparison]
) -> tuple[gate.Gate, ...]:
    """The policy's verdict on every candidate."""
    policy = gate.read(policy_path)
    return tuple(gate.decide(policy, _compared(warehouse, policy, each)) for each in found)


def _compared(warehouse: Warehouse, policy: gate.Policy, each: Comparison) -> gate.Compared:
    qualities = {
        row["run_id"]: gate.Quality(row["coverage"], row["clean_rate"])
        for row in rows(warehouse, QUALITIES)
    }
    waived = [waiver.task_id for waiver in policy.waivers]
    return gate.Compared(
        base=each.base,
        candidate=each.candidate,
        every_task=_measured(warehouse, each, []),
        unwaived=_measured(warehouse, each, waived) if waived else (),
        base_quality=qualities[each.base],
        candidate_quality=qualities[each.candidate],
        common_tasks=frozenset(
            row["task_id"] for row in rows(warehouse, COMMON, each.base, each.candidate)
        ),
    )


def _measured(
    warehouse: Warehouse, each: Comparison, without: list[str]
) -> tuple[gate.Measured, ...]:
    found = rows(warehouse, MEASURED, each.base, each.candidate, without)
    low, high = stats.change_interval(
        *(_numbers(found, name) for name in ("delta", "se", "n_groups")),
        is_bounded=np.array([row["is_bounded"] for row in found], dtype=bool),
    )
    return tuple(
        gate.Measured(
            metric=name,
            n_tasks=row["n_tasks"],
            delta=row["delta"],
            low=_defined(lower),
            high=_defined(upper),
            bound_low=row["bound_low"],
            bound_high=row["bound_high"],
        )
        for row, lower, upper in zip(found, low, high, strict=True)
        for name in _names(row["metric"])
    )


def _names(metric: str) -> Iterable[str]:
    """pass@k is known as that, and by its k."""
    name, _, k = metric.partition("/")
    return (name, f"{name.removesuffix('_k')}_{k}") if k else (name,)


def _numbers(found: Sequence[Row], name: str) -> stats.Numbers:
    return np.array([np.nan if row[name] is None else row[name] for row in found], dtype=float)


def _defined(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
