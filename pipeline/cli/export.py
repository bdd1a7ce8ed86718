"""blade export: the warehouse in a format that other tools read."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline import export as writers
from pipeline.cli.options import PATH, memory_option, warehouse_option
from pipeline.text import neutral


@click.command()
@click.option(
    "--format",
    "format_",
    type=click.Choice(list(writers.WRITERS)),
    required=True,
    help="parquet, csv: a file per public relation, events by run; gym: health and comparisons as "
    "NeMo Gym has them; atif: a trajectory per attempt; package: tasks that no model passes, and "
    "tests between models; every_eval_ever: each run as a JSON document and a JSONL file.",
)
@click.option("--out", type=PATH, required=True, help="The folder to write to.")
@click.option(
    "--timestamp",
    type=click.IntRange(0),
    default=0,
    help="The time that a file names, in seconds since 1970; no clock is asked.",
)
@warehouse_option
@memory_option
def export(
    format_: str, out: Path, timestamp: int, warehouse: Path, memory_limit: str | None
) -> None:
    """Write the warehouse in a format that other tools read; print the files.

    \b
    Examples:
      blade export --format parquet --out tables
      blade export --format every_eval_ever --out shared --warehouse compared
    """
    written = writers.write(
        *(warehouse, out, format_),
        timestamp=timestamp,
        memory_limit=memory_limit,
        note=lambda words: click.echo(neutral(f"blade: {words}"), err=True),
    )
    for name, n_rows in written.items():
        # Of trajectories there are as many as attempts; their manifest counts them.
        if format_ != "atif" or name.endswith("/manifest.jsonl"):
            click.echo(neutral(f"{out / name}: {n_rows} rows"))
