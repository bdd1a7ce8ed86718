"""Rows as a table: for a terminal, as Markdown, as CSV."""

from __future__ import annotations

import csv
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any, TextIO

from pipeline.text import json_text, markdown_cell, neutral, one_line

CELL_WIDTH = 72
NARROWEST = 6
GAP = "   "
FIGURE = re.compile(r"\d+\.\d%|[+-][\d,]+(?:\.\d+)?|\d+/\d+")


def print_table(
    names: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    notes: Iterable[str] = (),
    file: TextIO | None = None,
) -> None:
    """A table for people: numbers to the right, long text cut, nothing active.

    On a terminal the widest columns give way until it fits, then the last; elsewhere nothing does.
    A note stands below each row as it is given, inert already.
    """
    file = file or sys.stdout
    rows = [list(row) for row in rows]
    if file.isatty():
        names = _leading(names, shutil.get_terminal_size().columns)
        rows = [row[: len(names)] for row in rows]
    lines = [[one_line(cell_text(cell), CELL_WIDTH) for cell in row] for row in [names, *rows]]
    widths = [max(_width(line[column]) for line in lines) for column in range(len(names))]
    if file.isatty():
        widths = _fitted(widths, shutil.get_terminal_size().columns)
    to_right = [any(_is_number(row[column]) for row in rows) for column in range(len(names))]
    rule = "─" * (sum(widths) + len(GAP) * (len(widths) - 1))
    heading, *drawn = [_line(line, widths, to_right) for line in lines]
    file.writelines(f"{line}\n" for line in [heading, rule])
    for line, note in zip_longest(drawn, notes, fillvalue=""):
        file.write(f"{line}\n{note}\n" if note else f"{line}\n")


def write_markdown(names: Sequence[str], rows: Iterable[Sequence[Any]], file: TextIO) -> None:
    """A Markdown table in which every cell is inert."""

    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cells)} |\n"

    file.write(line(markdown_cell(name) for name in names) + line("---" for _ in names))
    for row in rows:
        file.write(line(markdown_cell(cell_text(cell)) for cell in row))


def write_csv(names: Sequence[str], rows: Iterable[Sequence[Any]], file: TextIO) -> None:
    """Exact through a pipe and in a file, inert on a terminal."""
    safe = neutral if file.isatty() else str
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([safe(name) for name in names])
    for row in rows:
        writer.writerow(
            [safe(repr(cell) if isinstance(cell, float) else cell_text(cell)) for cell in row]
        )


def percent(rate: float | None) -> str:
    """A share as people read it."""
    return "n/a" if rate is None or rate != rate else f"{100 * rate:.1f}%"


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


def _line(cells: list[str], widths: list[int], to_right: list[bool]) -> str:
    padded = []
    for cell, width, right in zip(cells, widths, to_right, strict=True):
        shown = _cut(cell, width)
        space = " " * (width - _width(shown))
        padded.append(space + shown if right else shown + space)
    return GAP.join(padded).rstrip()


def _fitted(widths: list[int], columns: int) -> list[int]:
    """The same widths, the widest made narrower until a line fits or none can give more."""
    widths = list(widths)
    room = columns - len(GAP) * (len(widths) - 1)
    while sum(widths) > room and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _leading(names: Sequence[str], columns: int) -> Sequence[str]:
    """The columns that a line has room for at all; what is left out is said."""
    fitting = max(1, (columns + len(GAP)) // (NARROWEST + len(GAP)))
    if len(names) > fitting:
        rest = ", ".join(one_line(name, CELL_WIDTH) for name in names[fitting:])
        print(f"without {rest}: name the columns, or use --format jsonl", file=sys.stderr)
    return names[:fitting]


def _cut(text: str, width: int) -> str:
    if _width(text) <= width:
        return text
    while _width(text) > width - 1:
        text = text[:-1]
    return text + "…"


def _width(text: str) -> int:
    """How many columns a terminal gives the text."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in text
    )


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return FIGURE.fullmatch(value) is not None
    return isinstance(value, (int, float)) and not isinstance(value, bool)
