"""blade health: how far the evaluation can be trusted, whatever the model scored."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from pipeline.cli.options import DEFAULT_OUT, json_option, warehouse_option
from pipeline.cli.tables import CELL_WIDTH, print_table
from pipeline.errors import UsageError
from pipeline.settings import WAREHOUSE_NAME
from pipeline.text import json_text, neutral
from pipeline.warehouse import Warehouse, open_warehouse

Row = dict[str, Any]
DEFAULT_WAREHOUSE = DEFAULT_OUT / WAREHOUSE_NAME
HEADINGS = (
    *("run", "rollouts", "healthy", "unhealthy", "unobserved", "clean", "coverage"),
    *("rejects", "stale failures", "models", "wrong figures"),
)
COLUMNS = (
    *("run_id", "n_rollouts", "n_healthy", "n_unhealthy", "n_unobserved", "clean_rate", "coverage"),
    *("n_rejects", "n_stale_failures", "n_models", "n_reported_differences"),
)
RATES = ("clean_rate", "coverage")
LEGEND = (
    "unobserved: nothing found, but not every check had its evidence. "
    "clean: the share of recorded rollouts that are not unhealthy."
)


@click.command()
@click.argument("run", required=False)
@click.option(
    "--min-clean-rate",
    type=click.FloatRange(0, 1),
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
        runs = _chosen(_rows(opened, HEALTH.select), run)
        known = {row["run_id"] for row in runs}
        checks = [
            row for row in _rows(opened, "from report.health_checks") if row["run_id"] in known
        ]
    below = [row["run_id"] for row in runs if _is_below(row["clean_rate"], min_clean_rate)]
    if as_json:
        content = {"min_clean_rate": min_clean_rate, "below": below, "runs": runs, "checks": checks}
        click.echo(json_text(content, indent=2))
    else:
        _print(runs, checks, warehouse)
    for run_id in below:
        click.echo(f"blade: {run_id}: the clean rate is not at least {min_clean_rate}.", err=True)
    if below:
        raise click.exceptions.Exit(1)


def _rows(warehouse: Warehouse, query: str) -> list[Row]:
    result = warehouse.execute(query)
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def _chosen(runs: list[Row], run: str | None) -> list[Row]:
    chosen = [row for row in runs if run in (None, row["run_id"])]
    if not chosen and run is not None:
        known = ", ".join(row["run_id"] for row in runs)
        raise UsageError(f"{run}: no such run.", hint=f"Runs: {known}")
    return chosen


def _is_below(clean_rate: float | None, least: float | None) -> bool:
    """An undefined rate is below any minimum: nothing shows that the run is clean."""
    return least is not None and (clean_rate is None or clean_rate < least)


def _print(runs: list[Row], checks: list[Row], warehouse: Path) -> None:
    print_table(HEADINGS, [[_value(name, row[name]) for name in COLUMNS] for row in runs])
    click.echo(LEGEND)
    if checks:
        click.echo()
        print_table(("check", "scope", "findings", "runs", "such as"), _by_check(checks))
        path = neutral(shlex.quote(str(warehouse)))
        where = "" if warehouse == DEFAULT_WAREHOUSE else f" --warehouse {path}"
        click.echo(f'next  blade sql "from health_findings"{where}')


def _value(name: str, value: Any) -> Any:
    if name in RATES:
        return "n/a" if value is None else f"{100 * value:.1f}%"
    return value


def _by_check(checks: Iterable[Row]) -> list[list[Any]]:
    """A row a check over all runs: what concerns rollouts first, then the commonest."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in checks:
        found.setdefault((row["scope"], row["check_id"]), []).append(row)
    order = ("rollout", "task", "run")
    listed = []
    for (scope, check_id), rows in found.items():
        n_findings = sum(row["n_findings"] for row in rows)
        examples = [example for row in rows for example in row["examples"]]
        listed.append([check_id, scope, n_findings, len(rows), _fitting(examples)])
    return sorted(listed, key=lambda row: (order.index(row[1]), -row[2], row[0]))


def _fitting(examples: list[str]) -> str:
    """As many as a cell holds whole; the first in any case."""
    shown = examples[:1]
    for example in examples[1:]:
        if len(", ".join([*shown, example])) > CELL_WIDTH:
            break
        shown.append(example)
    return ", ".join(shown)
