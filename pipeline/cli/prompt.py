"""A small SQL prompt with history."""

from __future__ import annotations

import os
from pathlib import Path

import click

from pipeline.cli import rows
from pipeline.errors import UsageError, is_interrupt
from pipeline.text import neutral
from pipeline.warehouse import Warehouse

HELP = "End a query with ; or an empty line.  .schema lists relations  ·  .exit or Ctrl-D leaves"
LONGEST_HISTORY = 1000


def ask(warehouse: Warehouse, path: Path) -> None:
    """Read queries and print their rows until the person leaves."""
    _remember()
    click.echo(f"{path}, read-only.  {HELP}")
    while (query := _query()) is not None:
        if query in (".exit", ".quit", "exit", "quit"):
            return
        try:
            if query in (".schema", ".tables"):
                rows.print_schema(warehouse, "table")
            elif query in (".help", "help", "?"):
                click.echo(HELP)
            elif query:
                rows.write(warehouse, query, "table", None)
        except UsageError as error:
            click.echo(f"{neutral(str(error))}\n{neutral(error.hint)}", err=True)
        except (KeyboardInterrupt, RuntimeError) as error:
            if not is_interrupt(error):
                raise
            click.echo("interrupted", err=True)


def _query() -> str | None:
    """The lines of one query; None at the end of input."""
    lines: list[str] = []
    while True:
        try:
            line = input("blade> " if not lines else "  ...> ")
        except EOFError:
            click.echo()
            return None
        except KeyboardInterrupt:
            click.echo()
            return ""
        lines.append(line)
        text = "\n".join(lines).strip()
        is_command = text.startswith(".") or text in ("exit", "quit", "help", "?")
        if not line.strip() or text.endswith(";") or is_command:
            return text.removesuffix(";").strip()


def _remember() -> None:
    """Line editing and a history file, where the platform has readline."""
    try:
        import atexit
        import readline
    except ImportError:
        return
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    history = state / "blade" / "history"
    try:
        history.parent.mkdir(parents=True, exist_ok=True)
        history.touch()
        readline.read_history_file(history)
    except OSError:
        return
    readline.set_history_length(LONGEST_HISTORY)
    atexit.register(readline.write_history_file, history)
