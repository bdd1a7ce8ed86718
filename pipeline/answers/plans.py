"""The tasks and repeats it takes to see a change, and what a budget buys, as plain values."""

from __future__ import annotations

import numpy as np

from pipeline.analysis import planning
from pipeline.answers.names import Row
from pipeline.warehouse import Warehouse

RUNS = """
    select run_id, n_scored_tasks, k, pass_at_1, within_variance, tokens_per_rollout
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
CURVE = "select k, pass_at, tokens_at, seconds_at from pass_curve where run_id = ? order by k"
ASSUMPTIONS = {
    (1, True): "a candidate that varies like this run and changes every task by the same amount",
    (1, False): "one repeat: an attempt varies by no more than pass@1 (1 - pass@1), and every task "
    "changes by the same amount",
    (2, True): "differences that vary as those between these two runs",
    (2, False): "one repeat: all that the differences of these two runs vary by is sampling",
}
NO_SPREAD = 1e-12


def plan(warehouse: Warehouse, runs: list[Row], change: float) -> Row:
    """The present evaluation, twice its tasks or repeats, and those that show the change."""
    names = [row["run_id"] for row in runs]
    found: Row = {"runs": names, "assumption": None, "rows": []}
    found |= {"between_variance": None, "within_variance": None}
    if any(row["pass_at_1"] is None for row in runs):
        return found
    if len(runs) == 1:
        n_tasks = runs[0]["n_scored_tasks"]
        spread = planning.spread_of_run(runs[0]["within_variance"], runs[0]["pass_at_1"])
    else:
        pairs = np.array(warehouse.execute(PAIR, names).fetchall(), dtype=np.int64).reshape(-1, 4)
        n_tasks = len(pairs)
        of_pair = planning.spread_of_pair(pairs[:, :2], pairs[:, 2:])
        if of_pair is None:
            return found
        spread = of_pair
    if spread.between + spread.within <= NO_SPREAD:
        return found
    k = min(row["k"] for row in runs)
    more_tasks = spread.tasks_needed(change, k)
    more_repeats = spread.repeats_needed(change, n_tasks)
    sizes = {
        "now": (n_tasks, k),
        "twice the tasks": (2 * n_tasks, k),
        "twice the repeats": (n_tasks, 2 * k),
        f"{100 * change:g} points, by tasks": (more_tasks, k),
        f"{100 * change:g} points, by repeats": (n_tasks, more_repeats),
    }
    tokens = runs[-1]["tokens_per_rollout"]
    found["assumption"] = ASSUMPTIONS[len(runs), spread.is_split]
    found["between_variance"], found["within_variance"] = spread.between, spread.within
    for name, (n, repeats) in sizes.items():
        n_attempts = None if n is None or repeats is None else n * repeats
        row: Row = {"plan": name, "n_tasks": n, "n_repeats": repeats, "n_attempts": n_attempts}
        row["tokens"] = round(n_attempts * tokens) if n_attempts and tokens is not None else None
        row["detectable"] = spread.detectable(n, repeats) if n_attempts else None
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
