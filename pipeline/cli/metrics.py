"""Print the metrics of all runs, or of one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from ..answers.names import find_run
from ..warehouse import open_warehouse
from .completion import complete_run
from .options import warehouse_option
from .page import WRITERS

FORMATS = ("json", "jsonl", "table", "csv", "markdown")
NAMES = ("run_id", "metric", "value")


@click.command()
@click.argument("run", required=False, shell_complete=complete_run)
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="json",
    help="json: the sidecar; jsonl: one object per run; others: one row per figure.",
)
@warehouse_option
def metrics(run: str | None, format_: str, warehouse: Path) -> None:
    """Print the metrics of all runs, or of RUN, as in metrics.json.

    \b
    Examples:
      blade metrics
      blade metrics office_desk_aster-8b --format table
      blade metrics --format csv --warehouse compared
    """
    from .. import report
    from ..report import sidecar

    with open_warehouse(warehouse) as opened:
        run = None if run is None else find_run(opened, run)["run_id"]
        runs = report.runs(opened)
        compared = report.comparisons(opened) if format_ == "json" and run is None else []
    objects = [sidecar.run_object(each) for each in runs if run in (None, each.run_id)]
    rows = [
        (each["run_id"], *leaf)
        for each in objects
        for name in each
        if name != "run_id"
        for leaf in _leaves(name, each[name])
    ]
    if format_ == "json":
        texts = [sidecar.text(each) for each in objects]
        lines = [sidecar.line(each) for each in sidecar.comparison_objects(compared)]
        click.echo(sidecar.document(texts, lines) if run is None else texts[0], nl=False)
    elif format_ == "jsonl":
        for each in objects:
            click.echo(sidecar.line(each))
    else:
        WRITERS[format_](NAMES, rows, file=sys.stdout)


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Each figure with its path in the object."""
    if not isinstance(value, (dict, list)):
        yield path, value
        return
    for name, inner in value.items() if isinstance(value, dict) else enumerate(value, start=1):
        yield from _leaves(f"{path}.{name}", inner)
