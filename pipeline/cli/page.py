"""Rows of values as tables for people, Markdown or CSV, in which every text is inert."""

from __future__ import annotations

import csv
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, TextIO

import click
from rich.cells import cell_len, set_cell_size

from ..text import json_text, markdown_cell, neutral, one_line

LONGEST_COMMAND = 2000
CELL_WIDTH = 72
NARROWEST_CELL = 6
GAP = "   "
FIGURE = re.compile(r"\d+\.\d%|[+-][\d,]+(?:\.\d+)?|\d+/\d+|\d+ of \d+")


def print_next(commands: Iterable[str]) -> None:
    """Print commands to run next, one per line."""
    for number, command in enumerate(commands):
        click.echo(f"{'    ' if number else 'next'}  {one_line(command, LONGEST_COMMAND)}")


def write_table(names: Sequence[str], rows: Iterable[Sequence[Any]], file: TextIO) -> None:
    """Write a table for people."""
    rows = list(rows)
    to_right = [any(is_number(row[place]) for row in rows) for place in range(len(names))]
    file.write(drawn_table(names, rows, to_right, [""] * len(rows), width=width_of(file)))


def width_of(file: TextIO) -> int:
    return shutil.get_terminal_size().columns if file.isatty() else sys.maxsize


def drawn_table(
    names: Sequence[str],
    rows: Sequence[Sequence[Any]],
    to_right: Sequence[bool],
    notes: Sequence[str],
    *,
    width: int,
) -> str:
    """Draw a table: numbers right-aligned, long texts cut, a note below each row.

    If the table is too wide, the widest columns are narrowed, then the last ones are left out.
    """
    fitting = max(1, (width + len(GAP)) // (NARROWEST_CELL + len(GAP)))
    if hidden := [one_line(name, CELL_WIDTH) for name in names[fitting:]]:
        message = f"without {', '.join(hidden)}: name the columns, or use --format jsonl"
        print(message, file=sys.stderr)
    lines = [
        [one_line(cell_text(cell), CELL_WIDTH) for cell in row[:fitting]] for row in [names, *rows]
    ]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    gaps = len(GAP) * (len(widths) - 1)
    while sum(widths) + gaps > width and max(widths) > NARROWEST_CELL:
        widths[widths.index(max(widths))] -= 1
    first, *drawn = [_line(line, widths, to_right) for line in lines]
    below = (f"{line}\n{note}" for line, note in zip(drawn, notes, strict=True))
    return f"{first}\n{'─' * (sum(widths) + gaps)}\n{''.join(below)}"


def write_markdown(names: Sequence[str], rows: Iterable[Sequence[Any]], file: TextIO) -> None:
    """Write a Markdown table in which every cell is inert."""
    for cells in chain(
        [map(markdown_cell, names), ["---"] * len(names)],
        ([markdown_cell(cell_text(cell)) for cell in row] for row in rows),
    ):
        file.write(f"| {' | '.join(cells)} |\n")


def write_csv(names: Sequence[str], rows: Iterable[Sequence[Any]], file: TextIO) -> None:
    """Write CSV: exact values to a pipe or file, inert ones to a terminal."""
    safe = neutral if file.isatty() else str
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([safe(name) for name in names])
    for row in rows:
        writer.writerow(
            [safe(repr(cell) if isinstance(cell, float) else cell_text(cell)) for cell in row]
        )


def cell_text(value: Any) -> str:
    """A value for people: null is empty, floats have six digits, nested values are JSON."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return json_text(value) if isinstance(value, (bool, dict, list, tuple)) else str(value)


def _line(cells: list[str], widths: list[int], to_right: Sequence[bool]) -> str:
    padded = []
    for cell, width, right in zip(cells, widths, to_right, strict=False):
        shown = cell
        if cell_len(cell) > width:
            shown = set_cell_size(cell, width - 1).rstrip() + "…"
        space = " " * (width - cell_len(shown))
        padded.append(space + shown if right else shown + space)
    return GAP.join(padded).rstrip()


def is_number(value: Any) -> bool:
    """Whether a cell is right-aligned: a number, or the text of a figure."""
    if isinstance(value, str):
        return FIGURE.fullmatch(value) is not None
    return isinstance(value, (int, float)) and not isinstance(value, bool)


WRITERS: dict[str, Callable[..., None]] = {
    "table": write_table,
    "markdown": write_markdown,
    "csv": write_csv,
}
