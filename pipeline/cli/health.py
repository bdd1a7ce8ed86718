"""blade health: whether the evaluation can be trusted, apart from what the model scored."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from pipeline.answers.names import Row
from pipeline.answers.runs import checked_health
from pipeline.cli.options import Number, command, json_option, warehouse_option, where
from pipeline.cli.page import labelled, percent, print_next, print_table
from pipeline.errors import listed
from pipeline.text import json_text, one_line
from pipeline.warehouse import open_warehouse

SHARES = ("clean_rate", "coverage")
SCOPES = ("rollout", "task", "run")
COLUMNS = "n_rollouts n_healthy n_unhealthy n_unobserved clean_rate coverage n_rejects".split()
LEGEND = (
    "unhealthy: a check below found something. unobserved: none did, but some had no evidence to "
    "read. clean: share of recorded rollouts that are not unhealthy."
)


@click.command()
@click.argument("run", required=False)
@click.option(
    "--min-clean-rate",
    type=Number(0, 1),
    help="Exit with 1 where a run's clean rate is lower, or undefined.",
)
@json_option
@warehouse_option
def health(run: str | None, min_clean_rate: float | None, as_json: bool, warehouse: Path) -> None:
    """Print whether the evaluation of all runs, or of RUN, can be trusted.

    \b
    Examples:
      blade health
      blade health office_desk_aster-8b --min-clean-rate 0.95
      blade health --json
    """
    with open_warehouse(warehouse) as opened:
        found = checked_health(opened, run)
    runs = found["runs"]
    # An undefined rate is below any minimum: nothing shows that the run is clean.
    below = [
        row["run_id"]
        for row in runs
        if min_clean_rate is not None
        and (row["clean_rate"] is None or row["clean_rate"] < min_clean_rate)
    ]
    if as_json:
        content = {"min_clean_rate": min_clean_rate, "below": below, **found}
        click.echo(json_text(content, indent=2))
    else:
        _print(runs, found["checks"], warehouse)
    for row in runs:
        if row["run_id"] in below:
            rate = f"{one_line(row['run_id'])}: clean rate {percent(row['clean_rate'])}"
            click.echo(f"blade: {rate}, the minimum is {percent(min_clean_rate)}.", err=True)
    if below:
        raise click.exceptions.Exit(1)


def _print(runs: list[Row], checks: list[Row], warehouse: Path) -> None:
    # What is 0 in every run is left out: nothing to look at.
    shown = [name for name in COLUMNS if any(run[name] for run in runs)]
    titles = (name.removeprefix("n_").removesuffix("_rate").replace("_", " ") for name in shown)
    cells = (
        [percent(run[name]) if name in SHARES else run[name] for name in shown] for run in runs
    )
    print_table(
        ("run", *titles), [[run["run_id"], *row] for run, row in zip(runs, cells, strict=True)]
    )
    click.echo(labelled("", LEGEND))
    if several := [run["run_id"] for run in runs if (run["n_models"] or 0) > 1]:
        click.echo(labelled("", f"answered by more than one model: {listed(several)}"))
    if not checks:
        click.echo("\nno check found anything")
        return
    click.echo()
    print_table(("check", "scope", "findings", "runs", "such as"), _by_check(checks))
    told = [
        command("why", row["examples"][0], warehouse)
        for row in checks
        if row["scope"] == "rollout" and row["examples"]
    ][:1]
    print_next([*told, f'blade sql "from health_findings"{where(warehouse)}'])


def _by_check(checks: Iterable[Row]) -> list[list[Any]]:
    """One row per check over all runs: what concerns rollouts first, then the commonest."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in checks:
        found.setdefault((row["scope"], row["check_id"]), []).append(row)
    listed_rows = []
    for (scope, check_id), same in found.items():
        n_findings = sum(row["n_findings"] for row in same)
        first = next((example for row in same for example in row["examples"]), "")
        listed_rows.append([check_id, scope, n_findings, len(same), first])
    return sorted(listed_rows, key=lambda row: (SCOPES.index(row[1]), -row[2], row[0]))
