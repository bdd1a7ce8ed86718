"""Which behaviours separate passes from failures of the same tasks: sums in, tests out."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipeline.analysis import stats
from pipeline.analysis.columns import nullable, numbers, q_within
from pipeline.relation import Computed

SUMS = ("up", "down", "null_variance", "spread_up", "spread_across", "spread_down")
DIFFERENCES = ("mean_when_passed", "mean_when_failed", "mean_difference", "se_difference")
DIRECTIONS = {1.0: "passes", -1.0: "fails", 0.0: "none"}


def separations(sums: pa.Table) -> pa.Table:
    """The sums, and each feature's size with its interval, p, q within its run, and direction."""
    up, down, null_variance, *spreads = (numbers(sums[name]) for name in SUMS)
    passed, failed, mean, se = (numbers(sums[name]) for name in DIFFERENCES)
    n_tasks = np.where(numbers(sums["n_informative"]) > 0, numbers(sums["n_tasks"]), 0)
    ratio, low, high = _odds_ratios(stats.common_odds_ratio(up, down, *spreads), sums)
    scale = np.maximum(np.abs(passed), np.abs(failed))
    p_of_mean, mean_low, mean_high = stats.paired_test(mean, se, n_tasks, scale=scale)
    is_binary = np.isfinite(up)
    p_value = np.where(is_binary, stats.association_p_value(up, down, null_variance), p_of_mean)
    leans = np.where(is_binary, stats.lean(up, down), stats.lean(passed, failed))
    columns = {
        "odds_ratio": ratio,
        "odds_ratio_low": low,
        "odds_ratio_high": high,
        "difference_low": mean_low,
        "difference_high": mean_high,
        "p_value": p_value,
        "q_value": q_within(sums["run_id"], p_value),
    }
    return pa.table(
        {
            **{name: sums[name] for name in sums.column_names},
            **{name: nullable(column) for name, column in columns.items()},
            "is_unbounded": pa.array(np.isinf(ratio), mask=np.isnan(ratio)),
            "direction": pa.array([DIRECTIONS[side] for side in leans], type=pa.string()),
        }
    )


def _odds_ratios(
    found: tuple[stats.Numbers, stats.Numbers, stats.Numbers], sums: pa.Table
) -> tuple[stats.Numbers, stats.Numbers, stats.Numbers]:
    """Ratios with their intervals; those of 0 and infinity have an exact one, open at that end."""
    ratio, low, high = (np.array(column) for column in found)
    edges = np.asarray(sums["edge_strata"].to_pylist(), dtype=object)
    top, bottom = np.flatnonzero(np.isinf(ratio)), np.flatnonzero(ratio == 0)
    low[top] = stats.edge_ratio_bound([_strata(text) for text in edges[top]])
    high[top] = np.inf
    low[bottom] = 0
    # Seldom in passes is as often lacking there: the same bound, of not doing it.
    high[bottom] = 1 / stats.edge_ratio_bound([_lacking(text) for text in edges[bottom]])
    return ratio, low, high


def _strata(text: str) -> list[stats.Stratum]:
    parts = (part.split(":") for part in text.split(" "))
    return [(int(n_passed), int(n_failed), int(n), int(t)) for n_passed, n_failed, n, t in parts]


def _lacking(text: str) -> list[stats.Stratum]:
    return [
        (n_passed, n_failed, n_passed + n_failed - n_with, n_tasks)
        for n_passed, n_failed, n_with, n_tasks in _strata(text)
    ]


SEPARATIONS = Computed(
    name="staging.separations",
    purpose="The test of every feature that may separate passes from failures.",
    grain=("run_id", "feature"),
    is_table=True,
    query="select * from staging.behaviour_sums",
    compute=separations,
)
