"""blade metrics: the figures of the metrics sidecar, from the warehouse."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from pipeline.cli.lookup import require_run
from pipeline.cli.options import warehouse_option
from pipeline.cli.tables import print_table, write_csv, write_markdown
from pipeline.warehouse import open_warehouse

FORMATS = ("json", "jsonl", "table", "csv", "markdown")
NAMES = ("run_id", "metric", "value")


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

    with open_warehouse(warehouse) as opened:
        runs = report.runs(opened)
        compared = report.comparisons(opened) if format_ == "json" and run is None else []
    require_run(run, [found.run_id for found in runs])
    objects = [sidecar.run_object(found) for found in runs if run in (None, found.run_id)]
    rows = [row for found in objects for row in _rows(found)]
    if format_ == "json":
        texts = [sidecar.text(found) for found in objects]
        lines = [sidecar.line(found) for found in report.comparison_json.objects(compared)]
        click.echo(sidecar.document(texts, lines) if run is None else texts[0], nl=False)
    elif format_ == "jsonl":
        for found in objects:
            click.echo(sidecar.line(found))
    elif format_ == "table":
        print_table(NAMES, rows)
    elif format_ == "markdown":
        write_markdown(NAMES, rows, sys.stdout)
    else:
        write_csv(NAMES, rows, sys.stdout)


def _rows(run: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """One row per figure: the run, the figure's place in the object, its value."""
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
