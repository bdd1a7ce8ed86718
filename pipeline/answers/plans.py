"""The tasks and repeats it takes to see a change, and what a budget buys, as plain values."""

from __future__ import annotations

import numpy as np

from pipeline.analysis import planning
from pipeline.answers.names import Row
from pipeline.warehouse import Warehouse

RUNS = """
    select run_id, k, pass_at_1, tokens_per_rollout
    from run_metrics
    order by benchmark, run_id
"""
# Different questions under one id are different tasks.
PAIR = """
    select bases.n_scored, bases.n_passed, candidates.n_scored, candidates.n_passed
    from task_outcomes as bases
    inner join task_outcomes as candidates using (benchmark, task_id)
    inner join staging.run_tasks as asked
        on asked.run_id = bases.run_id and asked.task_id = bases.task_id
    inner join staging.run_tasks as asked_too
        on asked_too.run_id = candidates.run_id and asked_too.task_id = candidates.task_id
    where
        bases.run_id = ? and candidates.run_id = ?
        and bases.n_scored > 0 and candidates.n_scored > 0
        and asked.question is not distinct from asked_too.question
    order by task_id
"""
RUN = """
    select n_scored, n_passed from task_outcomes where run_id = ? and n_scored > 0 order by task_id
"""
CURVE = "select k, pass_at, tokens_at, seconds_at from pass_curve where run_id = ? order by k"
ASSUMPTIONS = {
    (1, True): "a candidate whose tasks pass as often as this run's, but for the change",
    (1, False): "one repeat: every task passes as often as all do, but for the change",
    (2, True): "tasks that pass as often as in these two runs together, but for the change",
    (2, False): "one repeat: all that the differences of these two runs vary by is sampling",
}
NO_SPREAD = 1e-12


def plan(warehouse: Warehouse, runs: list[Row], change: float, spread: float | None = None) -> Row:
    """The present evaluation, twice its tasks or repeats, and those that show the change.

    `spread` is the deviation of tasks' true changes; of two runs theirs where it is None.
    """
    names = [row["run_id"] for row in runs]
    found: Row = {"runs": names, "assumption": None, "rows": []}
    found |= {"between_variance": None, "within_variance": None}
    if any(row["pass_at_1"] is None for row in runs):
        return found
    query, width = (RUN, 2) if len(runs) == 1 else (PAIR, 4)
    counts = np.array(warehouse.execute(query, names).fetchall(), dtype=np.int64)
    counts = counts.reshape(-1, width)
    n_tasks = len(counts)
    if n_tasks < 2:
        return found
    if len(runs) == 1:
        varying = planning.of_run(counts, spread)
    else:
        varying = planning.of_pair(counts[:, :2], counts[:, 2:], spread)
    if varying.spread**2 + varying.within <= NO_SPREAD:
        return found
    k = min(row["k"] for row in runs)
    more_tasks = varying.tasks_needed(change, k)
    more_repeats = varying.repeats_needed(change, n_tasks)
    sizes = {
        "now": (n_tasks, k),
        "twice the tasks": (2 * n_tasks, k),
        "twice the repeats": (n_tasks, 2 * k),
        f"{100 * change:g} points, by tasks": (more_tasks, k),
        f"{100 * change:g} points, by repeats": (n_tasks, more_repeats),
    }
    tokens = runs[-1]["tokens_per_rollout"]
    differ = f"; true changes of tasks differ by {100 * varying.spread:.1f} points (deviation)"
    found["assumption"] = ASSUMPTIONS[len(runs), varying.is_measured] + differ
    found["between_variance"], found["within_variance"] = varying.spread**2, varying.within
    for name, (n, repeats) in sizes.items():
        row: Row = {"plan": name, "n_tasks": n, "n_repeats": repeats}
        row |= dict.fromkeys(("n_attempts", "tokens", "detectable"))
        if n is not None and repeats is not None:
            row["n_attempts"] = n * repeats
            row["tokens"] = None if tokens is None else round(n * repeats * tokens)
            row["detectable"] = varying.detectable(n, repeats)
        found["rows"].append(row)
    return found


def afforded(warehouse: Warehouse, run_id: str, unit: str, budget: float) -> Row:
    """The most attempts at a task that a budget buys of a run, and what they reach."""
    points = warehouse.rows(CURVE, run_id)
    within = [row for row in points if (row[f"{unit}_at"] or np.inf) <= budget]
    last: Row = within[-1] if within else {}
    return {
        **{"run_id": run_id, "unit": unit, "budget": budget, "k": last.get("k")},
        **{"pass_at": last.get("pass_at"), "takes": last.get(f"{unit}_at")},
        "is_recorded": any(row[f"{unit}_at"] is not None for row in points),
        "is_most": bool(within) and within[-1]["k"] == points[-1]["k"],
    }
