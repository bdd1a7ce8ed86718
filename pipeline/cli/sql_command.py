"""blade sql: any question, read-only; in one go or at a prompt."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TextIO

import click

from pipeline.cli.options import warehouse_option
from pipeline.errors import InputError, UsageError
from pipeline.warehouse import Warehouse, open_warehouse

FORMATS = ("table", "markdown", "csv", "json", "jsonl", "parquet")


@click.command()
@click.argument("query", required=False)
@click.option(
    "-f", "--file", "file", type=click.File(encoding="utf-8"), help="Read the query from a file."
)
@warehouse_option
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="How to print the rows.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write the rows to a file instead.")
@click.option("--schema", is_flag=True, help="List relations, columns and what they are for.")
def sql(
    query: str | None,
    file: TextIO | None,
    warehouse: Path,
    format_: str,
    out: Path | None,
    schema: bool,
) -> None:
    """Run QUERY on the warehouse and print its rows; without one, open a prompt.

    \b
    Examples:
      blade sql "select run_id, avg(reward) from rollouts group by all"
      blade sql "from events where is_error" --format jsonl
      blade sql -f question.sql --format parquet --out answer.parquet
      blade sql --schema
    """
    if query is not None and file is not None:
        raise UsageError("a query and -f FILE were both given.", hint="Give one of them.")
    from pipeline.cli import prompt, rows

    with open_warehouse(warehouse) as opened:
        if schema:
            rows.print_schema(opened, format_)
            return
        if query is None and file is None and sys.stdin.isatty():
            prompt.ask(opened, warehouse)
            return
        text = query if query is not None else (file or sys.stdin).read()
        _answer(opened, text, format_, out)


def _answer(warehouse: Warehouse, query: str, format_: str, out: Path | None) -> None:
    from pipeline.cli import rows

    if not query.strip():
        raise UsageError("the query is empty.", hint='For example: blade sql "from runs"')
    if format_ == "parquet" and out is None:
        raise UsageError("parquet is not for a terminal.", hint="Name a file with --out FILE.")
    try:
        rows.write(warehouse, query, format_, out)
    except OSError as error:
        if out is None:
            raise
        raise InputError(f"{out}: cannot be written ({error.strerror}).") from error
