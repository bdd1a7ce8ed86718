"""blade sql: any question, read-only; in one go or at a prompt."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pipeline.cli.options import warehouse_option
from pipeline.errors import UsageError
from pipeline.warehouse import open_warehouse

FORMATS = ("table", "markdown", "csv", "json", "jsonl", "parquet")
ENDINGS = {".md": "markdown", ".txt": "table"} | {f".{name}": name for name in FORMATS}


@click.command()
@click.argument("query", required=False)
@click.option(
    "-f",
    "--file",
    "file",
    type=click.Path(path_type=Path, allow_dash=True),
    help="Read the query from a file.",
)
@warehouse_option
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    help="How to print the rows.  [default: by the ending of --out, else table]",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write the rows to a file instead.")
@click.option("--schema", is_flag=True, help="List relations, columns and what they are for.")
def sql(
    query: str | None,
    file: Path | None,
    warehouse: Path,
    format_: str | None,
    out: Path | None,
    schema: bool,
) -> None:
    """Run QUERY on the warehouse and print its rows; without one, open a prompt.

    \b
    Examples:
      blade sql "select run_id, avg(reward) from rollouts group by all"
      blade sql "from events where is_error" --format jsonl
      blade sql -f question.sql --out answer.parquet
      blade sql --schema
    """
    if query is not None and file is not None:
        raise UsageError("a query and -f FILE were both given.", hint="Give one of them.")
    format_ = format_ or ENDINGS.get(out.suffix.lower() if out else "", "table")
    if format_ == "parquet" and out is None:
        raise UsageError("parquet is not for a terminal.", hint="Name a file with --out FILE.")
    from pipeline.cli import prompt, rows

    with open_warehouse(warehouse) as opened:
        if schema:
            rows.print_schema(opened, format_, out)
        elif query is None and file is None and sys.stdin.isatty():
            prompt.ask(opened, warehouse)
        else:
            rows.write(opened, query if query is not None else _read(file), format_, out)


def _read(file: Path | None) -> str:
    """The query from a file, or from stdin."""
    try:
        if file is None or str(file) == "-":
            return sys.stdin.read()
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file}: cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file or 'stdin'}: the query is not UTF-8 text.") from error
