"""Estimate how many tasks and repeats it takes to detect a change."""

from __future__ import annotations

from pathlib import Path

import click

from ..answers import plans
from ..answers.names import find_run
from ..errors import UsageError
from ..warehouse import open_warehouse
from .completion import complete_run
from .options import Number, json_option, warehouse_option
from .terminal import print_page, show_aliases


@click.command()
@click.argument("run", nargs=-1, shell_complete=complete_run)
@click.option(
    "--change",
    type=Number(0, 100, min_open=True),
    default=5.0,
    metavar="POINTS",
    help="Change of pass@1 to detect with 80% power.",
)
@click.option(
    "--spread",
    type=Number(0, 100),
    metavar="POINTS",
    help="Standard deviation of the true changes of tasks.  "
    "[default: estimated from two runs; 0 for one]",
)
@click.option(
    "--budget-tokens",
    type=Number(0, min_open=True),
    metavar="TOKENS",
    help="Tokens available per task.",
)
@click.option(
    "--budget-seconds",
    type=Number(0, min_open=True),
    metavar="SECONDS",
    help="Seconds available per task.",
)
@json_option
@warehouse_option
def plan(
    run: tuple[str, ...],
    change: float,
    spread: float | None,
    budget_tokens: float | None,
    budget_seconds: float | None,
    as_json: bool,
    warehouse: Path,
) -> None:
    """Estimate how many tasks and repeats it takes to detect a change of pass@1 in RUN.

    The estimate follows the rule that gives a comparison its verdict. It uses the pass rates of the
    tasks and, given two runs (a base and a candidate), how much their differences vary. Without
    RUN, it is made for every run.

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
        show_aliases(opened)
        every = {row["run_id"]: row for row in opened.rows(plans.QUERIES["runs"])}
        chosen = [run] if run else [(name,) for name in every]
        planned = [
            {
                **plans.plan(
                    opened,
                    [every[name] for name in names],
                    change / 100,
                    None if spread is None else spread / 100,
                ),
                "budgets": [
                    plans.afforded(opened, names[-1], unit, budget)
                    for unit, budget in budgets.items()
                    if budget is not None
                ],
            }
            for names in chosen
        ]
    content = {"change": change / 100, "power": 0.8, "plans": planned}
    print_page("plan", json=content if as_json else None, plans=planned)
