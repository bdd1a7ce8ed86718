"""blade plan: the tasks and repeats it takes to see a change, and what a budget buys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from pipeline.cli.lookup import Row, find_run, rows
from pipeline.cli.options import Number, json_option, warehouse_option
from pipeline.cli.page import percent, print_table
from pipeline.errors import UsageError
from pipeline.text import json_text, neutral
from pipeline.warehouse import Warehouse, open_warehouse

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
NO_NUMBER = "none is enough"
COLUMNS = ("plan", "tasks", "repeats", "attempts", "tokens", "detectable change")


@click.command()
@click.argument("run", nargs=-1)
@click.option(
    "--change",
    type=Number(0, 100, min_open=True),
    default=5.0,
    show_default=True,
    help="The change of pass@1 to be seen, in points, with 80% power.",
)
@click.option("--budget-tokens", type=Number(0, min_open=True), help="Tokens to spend per task.")
@click.option("--budget-seconds", type=Number(0, min_open=True), help="Seconds to spend per task.")
@json_option
@warehouse_option
def plan(
    run: tuple[str, ...],
    change: float,
    budget_tokens: float | None,
    budget_seconds: float | None,
    as_json: bool,
    warehouse: Path,
) -> None:
    """Estimate how many tasks and repeats it takes to detect a change of pass@1 in RUN.

    Given two runs, a base and a candidate, from how their differences vary; without a name, for
    every run alone.

    \b
    Examples:
      blade plan office_desk_aster-8b
      blade plan office_desk_aster-8b office_desk_birch-70b --change 2
      blade plan office_desk_aster-8b --budget-tokens 6000 --json
    """
    if len(run) > 2:
        raise UsageError("more than two runs.", hint="Name one run, or a base and a candidate.")
    budgets = {"tokens": budget_tokens, "seconds": budget_seconds}
    with open_warehouse(warehouse) as opened:
        run = tuple(find_run(opened, name)["run_id"] for name in run)
        every = {row["run_id"]: row for row in rows(opened, RUNS)}
        chosen = [run] if run else [(name,) for name in every]
        planned = [
            {
                **_plans(opened, [every[name] for name in names], change / 100),
                "budgets": [
                    _afforded(opened, names[-1], unit, budget)
                    for unit, budget in budgets.items()
                    if budget is not None
                ],
            }
            for names in chosen
        ]
    if as_json:
        click.echo(json_text({"change": change / 100, "power": 0.8, "plans": planned}, indent=2))
    else:
        for number, each in enumerate(planned):
            _print(each, is_first=not number)


def _plans(opened: Warehouse, runs: list[Row], change: float) -> Row:
    """The present evaluation, twice its tasks or repeats, and those that show the change."""
    from pipeline.analysis import planning

    names = [row["run_id"] for row in runs]
    found: Row = {"runs": names, "assumption": None, "rows": []}
    found |= {"between_variance": None, "within_variance": None}
    if any(row["pass_at_1"] is None for row in runs):
        return found
    if len(runs) == 1:
        n_tasks = runs[0]["n_scored_tasks"]
        spread = planning.spread_of_run(runs[0]["within_variance"], runs[0]["pass_at_1"])
    else:
        pairs = np.array(opened.execute(PAIR, names).fetchall(), dtype=np.int64).reshape(-1, 4)
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


def _afforded(opened: Warehouse, run_id: str, unit: str, budget: float) -> Row:
    """The most attempts at a task that a budget buys of a run, and what they reach."""
    points = rows(opened, CURVE, run_id)
    within = [row for row in points if (row[f"{unit}_at"] or np.inf) <= budget]
    last: Row = within[-1] if within else {}
    return {
        **{"run_id": run_id, "unit": unit, "budget": budget, "k": last.get("k")},
        **{"pass_at": last.get("pass_at"), "takes": last.get(f"{unit}_at")},
        "is_recorded": any(row[f"{unit}_at"] is not None for row in points),
        "is_most": bool(within) and within[-1]["k"] == points[-1]["k"],
    }


def _print(planned: Row, *, is_first: bool) -> None:
    click.echo("" if is_first else "\n", nl=False)
    click.echo(neutral(" to ".join(planned["runs"])))
    if not planned["rows"]:
        click.echo("nothing to plan from: no spread, too few tasks, or nothing says what passes")
    else:
        click.echo(f"assumes {planned['assumption']}")
        print_table(COLUMNS, [_cells(row) for row in planned["rows"]])
    for row in planned["budgets"]:
        click.echo(_sentence(row))


def _cells(row: Row) -> list[Any]:
    sizes = [row["n_tasks"] or NO_NUMBER, row["n_repeats"] or NO_NUMBER]
    seen = "n/a" if row["n_attempts"] else None
    if row["detectable"] is not None:
        seen = f"{100 * row['detectable']:.1f} points"
    return [row["plan"], *sizes, row["n_attempts"], row["tokens"], seen]


def _sentence(row: Row) -> str:
    told = f"{row['budget']:,g} {row['unit']} per task of {neutral(row['run_id'])}: "
    if not row["is_recorded"]:
        return told + f"no {row['unit']} were recorded"
    if row["k"] is None:
        return told + "less than one attempt takes"
    most = ", all that were tried" if row["is_most"] else ""
    reached = f"pass@{row['k']} {percent(row['pass_at'])}"
    return told + f"k = {row['k']}{most} ({row['takes']:,.1f} {row['unit']}), {reached}"
