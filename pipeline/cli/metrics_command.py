"""blade metrics: the figures of the metrics sidecar, from the warehouse."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from pipeline.cli.options import warehouse_option
from pipeline.cli.tables import cell_text, markdown_table, print_table
from pipeline.errors import UsageError
from pipeline.text import neutral

FORMATS = ("json", "jsonl", "table", "csv", "markdown")


@click.command()
@click.argument("run", required=False)
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="json",
    show_default=True,
    help="json is the sidecar itself; the others have a row a figure, jsonl an object a run.",
)
@warehouse_option
def metrics(run: str | None, format_: str, warehouse: Path) -> None:
    """Print the metrics of all runs, or of RUN, as metrics.json has them.

    \b
    Examples:
      blade metrics
      blade metrics office_desk_aster-8b --format table
      blade metrics --format csv --warehouse compared/warehouse.duckdb
    """
    from pipeline import report
    from pipeline.report import sidecar
    from pipeline.warehouse import open_warehouse

    with open_warehouse(warehouse) as opened:
        runs = report.runs(opened)
        compared = report.comparisons(opened) if format_ == "json" and run is None else []
    chosen = [found for found in runs if run in (None, found.run_id)]
    if not chosen and run is not None:
        known = ", ".join(found.run_id for found in runs)
        raise UsageError(f"{run}: no such run.", hint=f"Runs: {known}")
    objects = [sidecar.run_object(found) for found in chosen]
    if format_ == "json":
        written = [sidecar.text(found) for found in objects]
        told = [sidecar.line(found) for found in report.comparison_json.objects(compared)]
        click.echo(sidecar.document(written, told) if run is None else written[0], nl=False)
    elif format_ == "jsonl":
        for found in objects:
            click.echo(sidecar.line(found))
    else:
        _print_rows([row for found in objects for row in _rows(found)], format_)


def _rows(run: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """A row a figure: the run, the figure's place in the object, its value."""
    for name, value in run.items():
        if name != "run_id":
            yield from ((run["run_id"], path, leaf) for path, leaf in _leaves(name, value))


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(f"{path}.{name}", inner)
    elif isinstance(value, list):
        for number, inner in enumerate(value, start=1):
            yield from _leaves(f"{path}.{number}", inner)
    else:
        yield path, value


def _print_rows(rows: list[tuple[str, str, Any]], format_: str) -> None:
    names = ("run_id", "metric", "value")
    if format_ == "table":
        print_table(names, rows)
    elif format_ == "markdown":
        click.echo(markdown_table(names, rows), nl=False)
    else:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(names)
        writer.writerows((run_id, path, _exact(value)) for run_id, path, value in rows)
        # Through a pipe exact, on a terminal inert.
        written = text.getvalue()
        click.echo(neutral(written) if sys.stdout.isatty() else written, nl=False)


def _exact(value: Any) -> str:
    return repr(value) if isinstance(value, float) else cell_text(value)
