"""Query the warehouse with SQL, read-only."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TextIO

import click

from .. import files
from ..answers.queries import (
    RELATIONS_QUERY,
    SCHEMA_QUERY,
    objects,
    schema_query,
    unique_names,
)
from ..errors import UsageError, is_interrupt
from ..outputs import replacing
from ..query_worker import EVERYTHING, Answer, Bounds, ask
from ..text import json_text, neutral
from .options import PATH, memory_option, timeout_option, warehouse_option
from .page import WRITERS

FORMATS = ("table", "markdown", "csv", "json", "jsonl", "parquet")
ENDINGS = {".md": "markdown", ".txt": "table"} | {f".{name}": name for name in FORMATS}
MOST_TABLE_ROWS = 1000
PROMPT_HELP = (
    "End a query with ; or an empty line.  .schema lists relations  ·  .exit or Ctrl-D quits"
)
WORDS = ("exit", "quit", "help", "?")
LONGEST_HISTORY = 1000
# Runs a query on the warehouse, within the limits of the command.
Ask = Callable[..., AbstractContextManager[Answer]]


@click.command()
@click.argument("query", required=False)
@click.option(
    "-f",
    "--file",
    "file",
    type=click.Path(path_type=Path, allow_dash=True),
    help="Read the query from a file, or from stdin with -.",
)
@warehouse_option
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    help="Output format.  [default: from the file extension of --out, else table]",
)
@click.option("--out", type=PATH, help="Write the rows to a file instead.")
@click.option(
    "--schema",
    is_flag=True,
    help="List all relations and their columns, or those of the relation named by QUERY.",
)
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
        raise UsageError("a query and -f FILE cannot be combined.", hint="Use one of them.")
    format_ = format_ or ENDINGS.get(out.suffix.lower() if out else "", "table")
    if format_ == "parquet" and out is None:
        raise UsageError("parquet cannot be printed.", hint="Write it to a file with --out FILE.")
    run = partial(ask, warehouse, seconds=timeout, memory_limit=memory_limit)
    if schema:
        listing = SCHEMA_QUERY if query is None else schema_query(_relations(run), query)
        if format_ == "table" and out is None:
            _print_schema(run, listing)
        else:
            _answer(run, listing, format_, out)
    elif query is None and file is None and sys.stdin.isatty():
        _prompt(run, warehouse)
    else:
        _answer(run, query if query is not None else _read(file), format_, out)


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


def _relations(run: Ask) -> list[str]:
    with run(RELATIONS_QUERY) as answer:
        return [name for (name,) in answer]


def _print_schema(run: Ask, listing: str) -> None:
    from .terminal import print_page

    with run(listing) as answer:
        rows = list(objects(answer))
    print_page("schema", rows=rows)


def _answer(run: Ask, query: str, format_: str, out: Path | None) -> None:
    bounds = EVERYTHING
    if format_ == "table":
        bounds = Bounds(most_rows=MOST_TABLE_ROWS)
    elif format_ == "parquet":
        bounds = Bounds(is_arrow=True)
    if out is None:
        with run(query, bounds=bounds) as answer:
            _print(answer, format_, sys.stdout)
        return
    with (
        replacing(out, hint="Choose another file with --out.") as path,
        run(query, bounds=bounds) as answer,
    ):
        _write(answer, format_, path)


def _write(answer: Answer, format_: str, path: Path) -> None:
    if format_ == "parquet":
        import pyarrow.parquet

        pyarrow.parquet.write_table(answer.table(), path)
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        _print(answer, format_, file)


def _print(answer: Answer, format_: str, file: TextIO) -> None:
    if format_ in WRITERS:
        WRITERS[format_](unique_names(answer.names), answer, file=file)
        if answer.is_cut:
            words = f"the first {MOST_TABLE_ROWS} rows; --format csv prints all"
            print(words, file=sys.stderr)
    elif format_ == "jsonl":
        file.writelines(f"{json_text(row)}\n" for row in objects(answer))
    else:
        file.write("[")
        for number, row in enumerate(objects(answer)):
            file.write((",\n" if number else "\n") + json_text(row))
        file.write("\n]\n")


def _prompt(run: Ask, path: Path) -> None:
    # Report errors of the file before anything is typed.
    _relations(run)
    _enable_history()
    click.echo(f"{path}, read-only.  {PROMPT_HELP}")
    lines: list[str] = []
    while True:
        query = ""
        try:
            lines.append(input("  ...> " if lines else "blade> "))
            text = "\n".join(lines).strip()
            if lines[-1].strip() and not (text.endswith(";") or text[0] == "." or text in WORDS):
                continue
            lines = []
            query = text.removesuffix(";").strip()
            if query.removeprefix(".") in ("exit", "quit"):
                return
            if query in (".schema", ".tables"):
                _print_schema(run, SCHEMA_QUERY)
            elif query in (".help", "help", "?"):
                click.echo(PROMPT_HELP)
            elif query:
                _answer(run, query, "table", None)
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


def _enable_history() -> None:
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
