"""Write all runs in a format for other tools."""

from __future__ import annotations

from pathlib import Path

import click

from .. import export as writers
from ..text import neutral
from .options import PATH, memory_option, warehouse_option


@click.command()
@click.option(
    "--format",
    "format_",
    type=click.Choice(list(writers.WRITERS)),
    required=True,
    help="parquet, csv: one file per public relation, events one per run; gym: health and "
    "comparisons in the formats of NeMo Gym; atif: one trajectory per attempt; junit: one test "
    "per task; mlflow, wandb: tables, figures and settings of each run; hugging_face: a dataset "
    "with its card; package: tasks that no model passes, and tests between models; "
    "every_eval_ever: one JSON and one JSONL per run.",
)
@click.option("--out", type=PATH, required=True, help="Output folder.")
@click.option(
    "--timestamp",
    type=click.IntRange(0),
    default=0,
    metavar="SECONDS",
    help="Time stamp to write into files that need one, in seconds since 1970.",
)
@warehouse_option
@memory_option
def export(
    format_: str, out: Path, timestamp: int, warehouse: Path, memory_limit: str | None
) -> None:
    """Write the warehouse in a format for other tools, and list the files.

    \b
    Examples:
      blade export --format parquet --out tables
      blade export --format every_eval_ever --out shared --warehouse compared
    """
    written = writers.write(
        warehouse,
        out,
        format_,
        timestamp=timestamp,
        memory_limit=memory_limit,
        note=lambda words: click.echo(neutral(f"blade: {words}"), err=True),
    )
    for name, n_rows in written.items():
        # Too many trajectories to list; their manifest counts them.
        if format_ != "atif" or name.endswith("/manifest.jsonl"):
            click.echo(neutral(f"{out / name}: {n_rows} rows"))
