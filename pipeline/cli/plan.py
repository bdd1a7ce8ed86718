"""blade plan: the tasks and repeats it takes to see a change, and what a budget buys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pipeline.answers import plans
from pipeline.answers.names import Row, find_run
from pipeline.cli.options import Number, json_option, warehouse_option
from pipeline.cli.page import percent, print_table
from pipeline.errors import UsageError
from pipeline.text import json_text, neutral
from pipeline.warehouse import open_warehouse

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
        every = {row["run_id"]: row for row in opened.rows(plans.RUNS)}
        chosen = [run] if run else [(name,) for name in every]
        planned = [
            {
                **plans.plan(opened, [every[name] for name in names], change / 100),
                "budgets": [
                    plans.afforded(opened, names[-1], unit, budget)
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
