"""blade health: how far the evaluation can be trusted, whatever the model scored."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from pipeline.cli.lookup import Row, known_run, rows, where
from pipeline.cli.options import Number, json_option, warehouse_option
from pipeline.cli.page import CELL_WIDTH, print_rows, print_table
from pipeline.text import json_text, neutral
from pipeline.warehouse import open_warehouse

COLUMNS = (
    "run_id n_rollouts n_healthy n_unhealthy n_unobserved clean_rate coverage n_rejects "
    "n_stale_failures n_models n_reported_differences"
)
SCOPES = ("rollout", "task", "run")
LEGEND = (
    "unobserved: nothing found, but not every check had its evidence. "
    "clean: the share of recorded rollouts that are not unhealthy."
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
    """Print how far the evaluation of all runs, or of RUN, can be trusted.

    \b
    Examples:
      blade health
      blade health office_desk_aster-8b --min-clean-rate 0.95
      blade health --json
    """
    from pipeline.report import HEALTH

    with open_warehouse(warehouse) as opened:
        if run is not None:
            known_run(opened, run)
        every = rows(opened, HEALTH.select)
        checks = rows(opened, "from report.health_checks")
    runs, checks = (
        [row for row in found if run in (None, row["run_id"])] for found in (every, checks)
    )
    # An undefined rate is below any minimum: nothing shows that the run is clean.
    below = [
        row["run_id"]
        for row in runs
        if min_clean_rate is not None
        and (row["clean_rate"] is None or row["clean_rate"] < min_clean_rate)
    ]
    if as_json:
        content = {"min_clean_rate": min_clean_rate, "below": below, "runs": runs, "checks": checks}
        click.echo(json_text(content, indent=2))
    else:
        _print(runs, checks, warehouse)
    for run_id in below:
        click.echo(f"blade: {run_id}: the clean rate is not at least {min_clean_rate}.", err=True)
    if below:
        raise click.exceptions.Exit(1)


def _print(runs: list[Row], checks: list[Row], warehouse: Path) -> None:
    print_rows(COLUMNS, runs)
    click.echo(LEGEND)
    if checks:
        click.echo()
        print_table(("check", "scope", "findings", "runs", "such as"), _by_check(checks))
        click.echo(neutral(f'next  blade sql "from health_findings"{where(warehouse)}'))


def _by_check(checks: Iterable[Row]) -> list[list[Any]]:
    """One row per check over all runs: what concerns rollouts first, then the commonest."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in checks:
        found.setdefault((row["scope"], row["check_id"]), []).append(row)
    listed = []
    for (scope, check_id), same in found.items():
        n_findings = sum(row["n_findings"] for row in same)
        examples = [example for row in same for example in row["examples"]]
        listed.append([check_id, scope, n_findings, len(same), _fitting(examples)])
    return sorted(listed, key=lambda row: (SCOPES.index(row[1]), -row[2], row[0]))


def _fitting(examples: list[str]) -> str:
    """As many as a cell holds whole; the first in any case."""
    shown = examples[:1]
    for example in examples[1:]:
        if len(", ".join([*shown, example])) > CELL_WIDTH:
            break
        shown.append(example)
    return ", ".join(shown)
