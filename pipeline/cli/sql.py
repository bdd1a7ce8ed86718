"""blade sql: any question, read-only; in one go or at a prompt."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, TextIO, TypeVar

import click
import duckdb

from pipeline import files
from pipeline.cli.lookup import Row, column
from pipeline.cli.options import PATH, memory_option, replacing, timeout_option, warehouse_option
from pipeline.cli.page import WRITERS
from pipeline.errors import UsageError, is_interrupt, resolved
from pipeline.text import json_text, neutral, parsed
from pipeline.warehouse import Warehouse, open_warehouse

FORMATS = ("table", "markdown", "csv", "json", "jsonl", "parquet")
ENDINGS = {".md": "markdown", ".txt": "table"} | {f".{name}": name for name in FORMATS}
FETCHED = 1000
MOST_TABLE_ROWS = 1000
PROMPT_HELP = (
    "End a query with ; or an empty line.  .schema lists relations  ·  .exit or Ctrl-D leaves"
)
WORDS = ("exit", "quit", "help", "?")
LONGEST_HISTORY = 1000
Answer = TypeVar("Answer")

SCHEMA_QUERY = """
    select
        table_name as relation,
        coalesce(described.comment, '') as description,
        column_name as column,
        data_type as type
    from duckdb_columns()
    left join (
        select database_name, schema_name, table_name, comment from duckdb_tables()
        union all
        select database_name, schema_name, view_name, comment from duckdb_views()
    ) as described using (database_name, schema_name, table_name)
    where schema_name = 'main' and database_name = current_database()
    order by relation, column_index
"""


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
@click.option("--out", type=PATH, help="Write the rows to a file instead.")
@click.option("--schema", is_flag=True, help="List relations and columns, or those of QUERY alone.")
@timeout_option
@memory_option
def sql(
    query: str | None,
    file: Path | None,
    warehouse: Path,
    format_: str | None,
    out: Path | None,
    schema: bool,
    timeout: float,
    memory_limit: str | None,
) -> None:
    """Run QUERY on the warehouse and print its rows; without one, open a prompt.

    \b
    Examples:
      blade sql "select run_id, avg(reward) from rollouts group by all"
      blade sql "from events where is_error" --format jsonl
      blade sql -f question.sql --out answer.parquet
      blade sql --schema
      blade sql --schema rollouts
    """
    if query is not None and file is not None:
        raise UsageError("a query and -f FILE were both given.", hint="Give one of them.")
    format_ = format_ or ENDINGS.get(out.suffix.lower() if out else "", "table")
    if format_ == "parquet" and out is None:
        raise UsageError("parquet is not for a terminal.", hint="Name a file with --out FILE.")
    with open_warehouse(warehouse, memory_limit=memory_limit) as opened:
        if schema:
            listing = schema_query(opened, query)
            if format_ == "table" and out is None:
                _print_schema(opened, listing)
            else:
                _answer(opened, listing, format_, out, timeout)
        elif query is None and file is None and sys.stdin.isatty():
            _prompt(opened, warehouse, timeout)
        else:
            _answer(opened, query if query is not None else _read(file), format_, out, timeout)


def schema_query(warehouse: Warehouse, name: str | None) -> str:
    """The query of all relations and their columns, or of the relation meant by a name."""
    if name is None:
        return SCHEMA_QUERY
    known = column(warehouse, f"select distinct relation from ({SCHEMA_QUERY}) order by all")
    found = resolved("relation", name, known).replace("'", "''")
    return f"from ({SCHEMA_QUERY}) where relation = '{found}'"


def _read(file: Path | None) -> str:
    try:
        if file is None or str(file) == "-":
            return sys.stdin.read(files.MOST_BYTES)
        return files.content(file).decode("utf-8")
    except files.UnreadableError as error:
        raise UsageError(f"{file}: {error}.", hint="Check the path given with -f.") from error
    except UnicodeDecodeError as error:
        message = f"{file or 'stdin'}: the query is not UTF-8 text."
        raise UsageError(message, hint="Save it as UTF-8.") from error


def _print_schema(warehouse: Warehouse, listing: str = SCHEMA_QUERY) -> None:
    shown = None
    for relation, description, named, type_ in warehouse.execute(listing).fetchall():
        if relation != shown:
            print(f"{'' if shown is None else chr(10)}{relation}  {description}")
            shown = relation
        print(f"    {named:<20} {type_.lower()}")


def _answer(
    warehouse: Warehouse, query: str, format_: str, out: Path | None, timeout: float
) -> None:
    """Run the query; print its rows, or write them to a file, whole or not at all."""
    if out is None:
        in_time(warehouse, lambda: _print(warehouse.execute(query), format_, sys.stdout), timeout)
        return
    with replacing(out, hint="Choose another file with --out.") as path:
        in_time(warehouse, lambda: _write(warehouse, query, format_, path), timeout)


def in_time(warehouse: Warehouse, answer: Callable[[], Answer], timeout: float) -> Answer:
    """Answer on another thread: a query that runs on the main one may never see Ctrl-C."""
    left = timeout
    with warehouse.explained(), ThreadPoolExecutor(max_workers=1) as pool:
        running: Future[Answer] = Future()
        try:
            running = pool.submit(answer)
            while not running.done():
                wait([running], timeout=min(left, 1))
                left -= 1
                if left <= 0 and not running.done():
                    _end(warehouse, running)
                    raise UsageError(
                        f"the query took longer than {timeout:g} s and was ended.",
                        hint="Ask for less, or allow more with --timeout SECONDS.",
                    )
        except KeyboardInterrupt:
            _end(warehouse, running)
            raise
        return running.result()


def _end(warehouse: Warehouse, running: Future[Answer]) -> None:
    """Interrupt until it ends: an interrupt between two fetches is not seen by the next."""
    while not running.cancel() and not running.done():
        warehouse.interrupt()
        wait([running], timeout=0.1)


def _write(warehouse: Warehouse, query: str, format_: str, path: Path) -> None:
    if format_ == "parquet":
        import pyarrow.parquet

        pyarrow.parquet.write_table(warehouse.arrow(query), path)
        return
    result = warehouse.execute(query)
    with path.open("w", encoding="utf-8", newline="") as file:
        _print(result, format_, file)


def _print(result: duckdb.DuckDBPyConnection, format_: str, file: TextIO) -> None:
    if format_ in WRITERS:
        names = _apart([column[0] for column in result.description or []])
        fetched = _fetched(result)
        most = MOST_TABLE_ROWS if format_ == "table" else None
        WRITERS[format_](names, islice(fetched, most), file=file)
        if most and next(fetched, None) is not None:
            print(f"the first {most} rows; --format csv prints all", file=sys.stderr)
    elif format_ == "jsonl":
        file.writelines(f"{json_text(row)}\n" for row in objects(result))
    else:
        file.write("[")
        for number, row in enumerate(objects(result)):
            file.write((",\n" if number else "\n") + json_text(row))
        file.write("\n]\n")


def _fetched(result: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    return chain.from_iterable(iter(lambda: result.fetchmany(FETCHED), []))


def objects(result: duckdb.DuckDBPyConnection) -> Iterator[Row]:
    """The rows by column name; what a column of JSON holds is opened."""
    names = _apart([column[0] for column in result.description or []])
    is_json = [str(column[1]) == "JSON" for column in result.description or []]
    for row in _fetched(result):
        yield {
            name: parsed(value) if nested and value is not None else value
            for name, nested, value in zip(names, is_json, row, strict=True)
        }


def _apart(names: list[str]) -> list[str]:
    """Names that are there twice get a number, so that no column is lost in an object."""
    found: dict[str, None] = {}
    for name in names:
        free = name
        for number in count(2):
            if free not in found and (free == name or free not in names):
                break
            free = f"{name}_{number}"
        found[free] = None
    return list(found)


def _prompt(warehouse: Warehouse, path: Path, timeout: float) -> None:
    _remember()
    click.echo(f"{path}, read-only.  {PROMPT_HELP}")
    lines: list[str] = []
    while True:
        query = ""
        try:
            lines.append(input("  ...> " if lines else "blade> "))
            text = "\n".join(lines).strip()
            if lines[-1].strip() and not (text.endswith(";") or text[0] == "." or text in WORDS):
                continue
            lines, query = [], text.removesuffix(";").strip()
            if query.removeprefix(".") in ("exit", "quit"):
                return
            if query in (".schema", ".tables"):
                _print_schema(warehouse)
            elif query in (".help", "help", "?"):
                click.echo(PROMPT_HELP)
            elif query:
                _answer(warehouse, query, "table", None, timeout)
        except EOFError:
            click.echo()
            return
        except UsageError as error:
            click.echo(f"{neutral(str(error))}\n{neutral(error.hint)}", err=True)
        except (KeyboardInterrupt, RuntimeError) as error:
            if not is_interrupt(error):
                raise
            lines = []
            click.echo("interrupted" if query else "", err=True)


def _remember() -> None:
    """Line editing and a history file, where the platform has readline."""
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    history = state / "blade" / "history"
    try:
        import readline

        history.parent.mkdir(parents=True, exist_ok=True)
        history.touch()
        readline.read_history_file(history)
    except (ImportError, OSError):
        return
    readline.set_history_length(LONGEST_HISTORY)
    atexit.register(readline.write_history_file, history)
