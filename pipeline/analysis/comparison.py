"""How sure a change between two runs is: intervals and a verdict. Rows in, rows out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.analysis import stats
from pipeline.analysis.columns import nullable, numbers
from pipeline.relation import Computed

KEY = ("base", "candidate", "metric")


def comparison_tests(rows: pa.Table) -> pa.Table:
    """Both intervals, what could have been seen, Holm's p and a verdict for each comparison."""
    delta, n_groups, n_mixed, se_new, se_same, counted, se_counted, n_counted = (
        numbers(rows[name])
        for name in (
            "delta",
            "n_groups",
            "n_mixed_tasks",
            "se_new_tasks",
            "se_same_tasks",
            "delta_counted_as_fail",
            "se_counted_as_fail",
            "n_counted_groups",
        )
    )
    is_bounded = np.asarray(rows["is_bounded"].to_pylist(), dtype=bool)
    new = stats.change_interval(delta, se_new, n_groups, is_bounded=is_bounded)
    same = stats.same_tasks_change_interval(delta, se_same, n_mixed)
    decided = stats.change_interval(counted, se_counted, n_counted, is_bounded=is_bounded)
    p_value = numbers(rows["p_value"])
    figures = {
        "ci_new_tasks_low": new[0],
        "ci_new_tasks_high": new[1],
        "ci_same_tasks_low": same[0],
        "ci_same_tasks_high": same[1],
        "ci_counted_as_fail_low": decided[0],
        "ci_counted_as_fail_high": decided[1],
        "mde_new_tasks": stats.detectable(se_new, n_groups),
        "mde_same_tasks": stats.detectable(se_same, np.full_like(se_same, np.inf)),
        "p_holm": _holm(rows, p_value),
    }
    limits = (numbers(rows[name]) for name in ("bound_low", "bound_high", "margin"))
    verdicts = [stats.verdict(*each) for each in zip(*decided, *limits, strict=True)]
    columns: dict[str, Any] = {name: rows[name] for name in KEY}
    return pa.table(
        {
            **columns,
            **{name: nullable(values) for name, values in figures.items()},
            "verdict": pa.array(verdicts, pa.string()),
        }
    )


def _holm(rows: pa.Table, p_value: stats.Numbers) -> stats.Numbers:
    """Over all candidates that are held against one base, by metric; a rerun is none."""
    keys = (rows[name].to_pylist() for name in ("base", "metric", "is_named"))
    sets = list(zip(*keys, strict=True))
    adjusted = np.full(len(p_value), np.nan)
    for chosen in dict.fromkeys(sets):
        own = np.array([each == chosen for each in sets])
        adjusted[own] = stats.holm(p_value[own])
    return adjusted


def measure_intervals(rows: pa.Table) -> pa.Table:
    """The interval of each other figure that is a mean of differences between tasks."""
    delta, se, n_tasks = (numbers(rows[name]) for name in ("delta", "se_new_tasks", "n_tasks"))
    is_bounded = np.array([name.startswith("pass_") for name in rows["metric"].to_pylist()], bool)
    low, high = stats.change_interval(delta, se, n_tasks, is_bounded=is_bounded)
    columns: dict[str, Any] = {name: rows[name] for name in KEY}
    interval = {"ci_new_tasks_low": nullable(low), "ci_new_tasks_high": nullable(high)}
    return pa.table({**columns, **interval})


COMPARISON_TESTS = Computed(
    name="staging.comparison_tests",
    purpose="How sure each change is: intervals, what could have been seen, a verdict.",
    grain=KEY,
    is_table=True,
    query="""
        select *
        from staging.comparison_levels
        left join staging.comparison_spreads using (base, candidate, metric)
        inner join staging.run_pairs using (base, candidate)
        left join staging.change_tests using (base, candidate, metric)
        order by base, candidate, metric
    """,
    compute=comparison_tests,
)
MEASURE_INTERVALS = Computed(
    name="staging.measure_intervals",
    purpose="The interval of each other figure that changed between two runs.",
    grain=KEY,
    is_table=True,
    query="select * from staging.measure_changes",
    compute=measure_intervals,
)
