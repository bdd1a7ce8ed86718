"""Intervals around a run's figures, and the vote of its majority: rows in, rows out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.analysis import stats
from pipeline.analysis.columns import nullable, numbers
from pipeline.relation import Computed

# How many tasks of a run have votes split in one way: for each answer how many, how many right. No
# answer is an answer too, and a wrong one.
BALLOTS = """
    with scored as (
        from main.rollouts where is_scored and is_pass is not null
    ),
    counted as (
        select run_id, task_id, answer,
            count(*) as n_votes,
            count(*) filter (is_pass and answer is not null) as n_right
        from scored
        where run_id in (select run_id from scored where answer is not null)
        group by all
    ),
    ballots as (
        select run_id, task_id,
            string_agg(n_votes || ':' || n_right, ' ' order by n_votes, n_right) as ballot
        from counted
        group by all
    )
    select run_id, ballot, count(*) as n_tasks
    from ballots
    group by all
    order by run_id, ballot
"""
ESTIMATE_KEY = ("run_id", "slice_key", "slice_value", "metric", "k")


def intervals(estimates: pa.Table) -> pa.Table:
    """The estimates with both intervals of each; null where they are undefined."""
    value, se_new, se_same, n_groups, n_mixed = (
        numbers(estimates[name])
        for name in ("value", "se_new_tasks", "se_same_tasks", "n_groups", "n_mixed_tasks")
    )
    is_bounded = np.asarray(estimates["is_bounded"].to_pylist(), dtype=bool)
    new = stats.new_tasks_interval(value, se_new, n_groups, is_bounded=is_bounded)
    same = stats.same_tasks_interval(value, se_same, n_mixed, is_bounded=is_bounded)
    bounds = {
        "ci_new_tasks_low": new[0],
        "ci_new_tasks_high": new[1],
        "ci_same_tasks_low": same[0],
        "ci_same_tasks_high": same[1],
    }
    columns: dict[str, Any] = dict(zip(estimates.column_names, estimates.columns, strict=True))
    return pa.table({**columns, **{name: nullable(bound) for name, bound in bounds.items()}})


def majorities(ballots: pa.Table) -> pa.Table:
    """maj@k of each run whose rollouts have answers."""
    by_run: dict[str, list[tuple[list[stats.Vote], int]]] = {}
    for row in ballots.to_pylist():
        votes = [_vote(part) for part in row["ballot"].split(" ")]
        by_run.setdefault(row["run_id"], []).append((votes, row["n_tasks"]))
    rows = [
        {"run_id": run_id, "k": k, "maj_at": maj_at}
        for run_id, cast in by_run.items()
        for k, maj_at in stats.majority_curve(cast).items()
    ]
    schema = pa.schema({"run_id": pa.string(), "k": pa.int64(), "maj_at": pa.float64()})
    return pa.Table.from_pylist(rows, schema=schema)


def _vote(text: str) -> stats.Vote:
    n_votes, _, n_right = text.partition(":")
    return int(n_votes), int(n_right)


INTERVALS = Computed(
    name="staging.intervals",
    purpose="Every estimate with both its intervals.",
    grain=ESTIMATE_KEY,
    is_table=True,
    query="select * from staging.estimates",
    compute=intervals,
)
MAJORITIES = Computed(
    name="staging.majorities",
    purpose="How often the commonest of k answers is right.",
    grain=("run_id", "k"),
    is_table=True,
    query=BALLOTS,
    compute=majorities,
)
