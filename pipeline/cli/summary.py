"""What an analysis found, in a screenful."""

from __future__ import annotations

import shlex
import sys

import click

from pipeline.cli.options import DEFAULT_OUT
from pipeline.cli.tables import print_table
from pipeline.cli.text import json_text, neutral, one_line
from pipeline.run import Analysis
from pipeline.warehouse import Warehouse, open_warehouse

SUMMARY_COLUMNS = (
    "benchmark",
    "run_id",
    "n_tasks",
    "n_rollouts",
    "n_expected",
    "n_scored",
    "n_missing",
    "n_rejects",
    "mean_reward",
)
MOST_WARNINGS = 12
WIDEST = 400


def print_summary(analysis: Analysis) -> None:
    """Inventory, a row a run, what to know, and what to run next."""
    with open_warehouse(analysis.warehouse) as warehouse:
        click.echo(_inventory(warehouse))
        rows = warehouse.execute(
            f"select {', '.join(SUMMARY_COLUMNS)} from report.run_summary"
        ).fetchall()
    headings = [name.removeprefix("n_").replace("_", " ") for name in SUMMARY_COLUMNS]
    headings[1] = "run"
    print_table(headings, [[*row[:-1], _rounded(row[-1])] for row in rows])
    path = shlex.quote(str(analysis.warehouse))
    where = "" if analysis.out == DEFAULT_OUT else f" --warehouse {neutral(path)}"
    _print_warnings(analysis, where)
    click.echo(f"wrote {neutral(str(analysis.warehouse))}")
    click.echo(f'next  blade sql "from runs"{where}  ·  blade sql --schema{where}')


def print_json(analysis: Analysis) -> None:
    """The same, for a program."""
    with open_warehouse(analysis.warehouse) as warehouse:
        content = {
            "warehouse": str(analysis.warehouse),
            "runs": _records(warehouse, "from report.run_summary"),
            "inventory": _records(warehouse, "from report.inventory"),
            "warnings": [vars(warning) for warning in analysis.warnings],
        }
    click.echo(json_text(content, indent=2))


def _records(warehouse: Warehouse, query: str) -> list[dict[str, object]]:
    result = warehouse.execute(query)
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def _inventory(warehouse: Warehouse) -> str:
    kinds = warehouse.execute("select kind, n_files from report.inventory").fetchall()
    total = sum(n_files for _, n_files in kinds)
    listing = ", ".join(f"{n_files} {kind.replace('_', ' ')}" for kind, n_files in kinds)
    return f"{total} file{'' if total == 1 else 's'}: {listing}"


def _rounded(value: float | None) -> float | str:
    return "n/a" if value is None else round(value, 4)


def _print_warnings(analysis: Analysis, where: str) -> None:
    """On stderr: a program that reads stdout need not skip them. `where` completes a command."""
    sys.stdout.flush()
    for warning in analysis.warnings[:MOST_WARNINGS]:
        click.echo(f"! {one_line(f'{warning.subject}: {warning.message}', WIDEST)}", err=True)
        if warning.hint:
            rest = where if warning.hint.startswith("blade ") else ""
            click.echo(f"    {one_line(warning.hint, WIDEST)}{rest}", err=True)
    left_out = len(analysis.warnings) - MOST_WARNINGS
    if left_out > 0:
        click.echo(f'! and {left_out} more: blade sql "from checks.warn_..."', err=True)
