"""Which tasks rise and fall along a series of runs: sums in, tests and expectations out."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipeline.analysis import stats
from pipeline.analysis.columns import nullable, q_within
from pipeline.relation import Computed

SUMS = ("n_all", "n_all_passed", "sum_places", "sum_square_places", "sum_passed_places")


def trends(totals: pa.Table) -> pa.Table:
    """Each task's trend with p and q within its series, and how likely noise alone turns it."""
    sums = [_counts(totals[name]) for name in SUMS]
    n, n_passed = sums[:2]
    n_first, n_last = _counts(totals["n_first"]), _counts(totals["n_last"])
    slope, p_value = stats.trend(*sums)
    columns = {
        "slope": slope,
        "p_value": p_value,
        "q_value": q_within(totals["series"], p_value),
        "expected_learned": stats.chance_of_turn(n, n_passed, n_first, n_last),
        "expected_forgotten": stats.chance_of_turn(n, n_passed, n_last, n_first),
    }
    return pa.table(
        {
            "series": totals["series"],
            "task_id": totals["task_id"],
            **{name: nullable(column) for name, column in columns.items()},
        }
    )


def _counts(column: pa.ChunkedArray) -> stats.Counts:
    return np.asarray(column.to_numpy(), dtype=np.int64)


TRENDS = Computed(
    name="staging.series_trends",
    purpose="The trend of every task along a series, and what noise alone would make of its ends.",
    grain=("series", "task_id"),
    is_table=True,
    query="select * exclude (rates, n_scored, n_passed) from staging.series_totals",
    compute=trends,
)
