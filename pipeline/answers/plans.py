"""How many tasks and repeats detect a change, and what a budget affords, as plain values."""

from __future__ import annotations

import numpy as np

from ..analysis import planning
from ..files import read_queries
from ..warehouse import Warehouse
from .names import Row

QUERIES = read_queries("answers/plans")
# By the number of runs, and whether a task has several repeats, so that its rate is measured.
ASSUMPTIONS = {
    (1, True): "a candidate whose tasks pass as often as this run's, but for the change",
    (1, False): "one repeat: every task passes as often as all do, but for the change",
    (2, True): "tasks that pass as often as in these two runs together, but for the change",
    (2, False): "one repeat: these two runs differ by sampling alone",
}
NO_SPREAD = 1e-12


def plan(warehouse: Warehouse, runs: list[Row], change: float, spread: float | None = None) -> Row:
    """The current evaluation, twice its tasks or repeats, and the sizes that detect the change.

    `spread` is the standard deviation of the true changes of tasks; None: estimated from two runs,
    0 for one.
    """
    names = [row["run_id"] for row in runs]
    planned: Row = {
        "runs": names,
        "assumption": None,
        "rows": [],
        "between_variance": None,
        "within_variance": None,
    }
    if any(row["pass_at_1"] is None for row in runs):
        return planned
    query, width = (QUERIES["run"], 2) if len(runs) == 1 else (QUERIES["pair"], 4)
    counts = np.array(warehouse.execute(query, names).fetchall(), dtype=np.int64)
    counts = counts.reshape(-1, width)
    n_tasks = len(counts)
    if n_tasks < 2:
        return planned
    if len(runs) == 1:
        design = planning.of_run(counts, spread)
    else:
        design = planning.of_pair(counts[:, :2], counts[:, 2:], spread)
    if design.spread**2 + design.within <= NO_SPREAD:
        return planned
    k = min(row["k"] for row in runs)
    more_tasks = design.tasks_needed(change, k)
    more_repeats = design.repeats_needed(change, n_tasks)
    sizes = {
        "now": (n_tasks, k),
        "twice the tasks": (2 * n_tasks, k),
        "twice the repeats": (n_tasks, 2 * k),
        f"{100 * change:g} points, by tasks": (more_tasks, k),
        f"{100 * change:g} points, by repeats": (n_tasks, more_repeats),
    }
    tokens = runs[-1]["tokens_per_rollout"]
    differ = (
        f"; true changes of tasks differ by {100 * design.spread:.1f} points (standard deviation)"
    )
    planned["assumption"] = ASSUMPTIONS[len(runs), design.is_measured] + differ
    planned["between_variance"] = design.spread**2
    planned["within_variance"] = design.within
    for name, (n, repeats) in sizes.items():
        row: Row = {"plan": name, "n_tasks": n, "n_repeats": repeats}
        row |= dict.fromkeys(("n_attempts", "tokens", "detectable"))
        if n is not None and repeats is not None:
            row["n_attempts"] = n * repeats
            row["tokens"] = None if tokens is None else round(n * repeats * tokens)
            row["detectable"] = design.detectable(n, repeats)
        planned["rows"].append(row)
    return planned


def afforded(warehouse: Warehouse, run_id: str, unit: str, budget: float) -> Row:
    """The most attempts per task that a budget affords, and their pass rate."""
    points = warehouse.rows(QUERIES["curve"], run_id)
    affordable = [row for row in points if (row[f"{unit}_at"] or np.inf) <= budget]
    last: Row = affordable[-1] if affordable else {}
    return {
        "run_id": run_id,
        "unit": unit,
        "budget": budget,
        "k": last.get("k"),
        "pass_at": last.get("pass_at"),
        "takes": last.get(f"{unit}_at"),
        "is_recorded": any(row[f"{unit}_at"] is not None for row in points),
        "is_most": bool(affordable) and affordable[-1]["k"] == points[-1]["k"],
    }
