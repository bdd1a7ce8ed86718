"""A warehouse with other pairs, series or labels than the analysis had; nothing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from .. import report, warehouse
from ..profile import Profile
from ..run import computed_relations
from ..settings import SQL_DIR

# The relations that a policy reads, and those that a comparison reads.
DECIDED = ("staging.comparison_tests", "staging.measure_changes")
COMPARED = (
    *(name for table in report.OF_PAIRS for name in table.reads),
    "main.comparison_tasks",
    *DECIDED,
    "main.run_metrics",
    "main.run_health",
    "main.runs",
)
FOLLOWED = ("main.series", "main.series_tasks", "main.series_counts", "main.runs")


@dataclass(frozen=True)
class Pair:
    """A candidate to compare with a base; only named pairs have a verdict."""

    benchmark: str
    base: str
    candidate: str
    is_named: bool
    margin: float


def compare(
    path: Path, pairs: Sequence[Pair], *, without: Sequence[str] = ()
) -> warehouse.Warehouse:
    """A warehouse with the comparisons of these pairs instead of those of the analysis.

    `without` has the tasks to leave out; with any, only the relations that a policy reads are made.
    """
    columns = {name: [getattr(pair, name) for pair in pairs] for name in Pair.__annotations__}
    pair_table = pa.table({**columns, "pair_no": list(range(1, len(pairs) + 1))})
    tables = {"staging.run_pairs": pair_table}
    if not without:
        # Contrasts within one run do not depend on pairs, and no comparison shows them.
        emptied = ["staging.sometimes_rollouts"]
        return recompute(path, tables, emptied=emptied, wanted=COMPARED)
    with recompute(path, tables, wanted=["main.comparison_tasks"]) as all_tasks:
        query = "from main.comparison_tasks where not list_contains(?, task_id)"
        tables["main.comparison_tasks"] = all_tasks.arrow(query, [list(without)])
    return recompute(path, tables, wanted=DECIDED)


def follow(path: Path, names: Sequence[str], *, benchmark: str) -> warehouse.Warehouse:
    """A warehouse with one series: these runs, in this order."""
    series = {
        "series": ["given"] * len(names),
        "benchmark": [benchmark] * len(names),
        "run_id": list(names),
        "place": list(range(1, len(names) + 1)),
        "step": pa.array([None] * len(names), pa.float64()),
    }
    return recompute(path, {"staging.series_runs": pa.table(series)}, wanted=FOLLOWED)


def recompute(path: Path, replaced: Mapping[str, pa.Table], **how: Any) -> warehouse.Warehouse:
    """A warehouse in which these relations are replaced and the wanted ones computed again."""
    return warehouse.recompute(
        path, SQL_DIR, computed_relations(Profile()), replaced=replaced, **how
    )
