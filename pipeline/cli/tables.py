"""Rows as a table: for a terminal with rich, for a page as Markdown."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any, TextIO

from pipeline.cli.text import json_text, markdown_cell, neutral, one_line

CELL_WIDTH = 72
# Wide enough that nothing wraps when the output goes to a file or a pipe.
UNBOUNDED = 10_000


def print_table(
    names: Sequence[str], rows: Iterable[Sequence[Any]], *, file: TextIO | None = None
) -> None:
    """A table for people: numbers to the right, long text cut, nothing active."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    file = file or sys.stdout
    rows = [list(row) for row in rows]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, name in enumerate(names):
        is_numeric = any(_is_number(row[number]) for row in rows)
        table.add_column(Text(neutral(name)), justify="right" if is_numeric else "left")
    for row in rows:
        table.add_row(*(Text(one_line(cell_text(value), CELL_WIDTH)) for value in row))
    width = None if file.isatty() else UNBOUNDED
    drawn = StringIO()
    Console(file=drawn, width=width, highlight=False, no_color=True).print(table)
    file.writelines(f"{line.rstrip()}\n" for line in drawn.getvalue().splitlines())


def markdown_table(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table in which every cell is inert."""
    lines = [_markdown_row(names), _markdown_row(["---"] * len(names), escape=False)]
    lines += [_markdown_row([cell_text(value) for value in row]) for row in rows]
    return "\n".join(lines) + "\n"


def cell_text(value: Any) -> str:
    """A value as people read it: null is empty, floats keep six digits, the rest is JSON."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (dict, list, tuple)):
        return json_text(value)
    return str(value)


def _markdown_row(cells: Sequence[str], *, escape: bool = True) -> str:
    return "| " + " | ".join(markdown_cell(cell) if escape else cell for cell in cells) + " |"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
