"""Show whether the evaluation itself can be trusted."""

from __future__ import annotations

from pathlib import Path

import click

from ..answers.names import Row
from ..answers.runs import checked_health
from ..errors import listed
from ..report import wording
from ..text import json_text, one_line
from ..warehouse import open_warehouse
from .completion import complete_run
from .options import Number, command, json_option, warehouse_option, where
from .page import print_next
from .terminal import defined, print_page, run_name, show_aliases

percent = defined(wording.FORMATS["pct"])
SHARES = ("clean_rate", "coverage")
SCOPES = ("rollout", "task", "run")
COLUMNS = "n_rollouts n_healthy n_unhealthy n_unobserved clean_rate coverage n_rejects".split()


@click.command()
@click.argument("run", required=False, shell_complete=complete_run)
@click.option(
    "--min-clean-rate",
    type=Number(0, 1),
    help="Exit with 1 if the clean rate of a run is lower or undefined.",
)
@json_option
@warehouse_option
def health(run: str | None, min_clean_rate: float | None, as_json: bool, warehouse: Path) -> None:
    """Check whether the evaluation of all runs, or of RUN, can be trusted.

    \b
    Examples:
      blade health
      blade health office_desk_aster-8b --min-clean-rate 0.95
      blade health --json
    """
    with open_warehouse(warehouse) as opened:
        checked = checked_health(opened, run)
        show_aliases(opened)
    runs = checked["runs"]
    # An undefined rate is below any minimum.
    below = [
        row["run_id"]
        for row in runs
        if min_clean_rate is not None
        and (row["clean_rate"] is None or row["clean_rate"] < min_clean_rate)
    ]
    if as_json:
        content = {"min_clean_rate": min_clean_rate, "below": below, **checked}
        click.echo(json_text(content, indent=2))
    else:
        _print(runs, checked["checks"], warehouse)
    for row in runs:
        if row["run_id"] in below:
            rate = f"{one_line(run_name(row['run_id']))}: clean rate {percent(row['clean_rate'])}"
            click.echo(f"blade: {rate}, the minimum is {percent(min_clean_rate)}.", err=True)
    if below:
        raise click.exceptions.Exit(1)


def _print(runs: list[Row], checks: list[Row], warehouse: Path) -> None:
    # Columns that are 0 in every run are left out.
    shown = [name for name in COLUMNS if any(run[name] for run in runs)]
    print_page(
        "health",
        runs=runs,
        checks=_by_check(checks),
        columns=shown,
        figures=lambda run: [percent(run[name]) if name in SHARES else run[name] for name in shown],
        several=listed([run_name(run["run_id"]) for run in runs if (run["n_models"] or 0) > 1]),
    )
    cited = [row["examples"][0] for row in checks if row["scope"] == "rollout" and row["examples"]]
    commands = [command("why", each, warehouse) for each in cited[:1]]
    if checks:
        print_next([*commands, f'blade sql "from health_findings"{where(warehouse)}'])


def _by_check(checks: list[Row]) -> list[Row]:
    """One row per check over all runs: checks of rollouts first, then by frequency."""
    by_check: dict[tuple[str, str], Row] = {}
    for row in checks:
        total = by_check.setdefault((row["scope"], row["check_id"]), {**row, "n_findings": 0})
        total["n_findings"] += row["n_findings"]
        total["n_runs"] = total.get("n_runs", 0) + 1
        total["example"] = total.get("example") or next(iter(row["examples"]), "")
    ranked = sorted(by_check.values(), key=lambda row: (-row["n_findings"], row["check_id"]))
    return sorted(ranked, key=lambda row: SCOPES.index(row["scope"]))
