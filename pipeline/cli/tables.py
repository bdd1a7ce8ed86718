"""Rows as a table: for a terminal, as Markdown, as CSV."""

from __future__ import annotations

import csv
import re
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any, TextIO

from pipeline.text import json_text, markdown_cell, neutral, one_line

CELL_WIDTH = 72
NARROWEST = 6
HEADINGS = {
    "run_id": "run",
    "n_failed": "not passed",
    "share_of_failures": "share",
    "clean_rate": "clean",
    "n_reported_differences": "wrong figures",
}
SHARES = ("clean_rate", "coverage", "share_of_failures")
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
    room = shutil.get_terminal_size().columns if file.isatty() else None
    fitting = len(names) if room is None else max(1, (room + len(GAP)) // (NARROWEST + len(GAP)))
    if left_out := [one_line(name, CELL_WIDTH) for name in names[fitting:]]:
        said = f"without {', '.join(left_out)}: name the columns, or use --format jsonl"
        print(said, file=sys.stderr)
    lines = [
        [one_line(cell_text(cell), CELL_WIDTH) for cell in row[:fitting]] for row in [names, *rows]
    ]
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    gaps = len(GAP) * (len(widths) - 1)
    while room is not None and sum(widths) + gaps > room and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
    to_right = [any(_is_number(row[column]) for row in rows) for column in range(len(widths))]
    heading, *drawn = [_line(line, widths, to_right) for line in lines]
    file.write(f"{heading}\n{'─' * (sum(widths) + gaps)}\n")
    for line, note in zip_longest(drawn, notes, fillvalue=""):
        file.write(f"{line}\n{note}\n" if note else f"{line}\n")


def print_rows(
    columns: str, rows: Sequence[Mapping[str, Any]], *, notes: Iterable[str] = ()
) -> None:
    """The same of some columns of rows: by what people call them, shares as percentages."""
    names = columns.split()
    print_table(
        [HEADINGS.get(name) or name.removeprefix("n_").replace("_", " ") for name in names],
        [
            [percent(row[name]) if name in SHARES else row.get(name) for name in names]
            for row in rows
        ],
        notes=notes,
    )


def write_markdown(names: Sequence[str], rows: Iterable[Sequence[Any]], file: TextIO) -> None:
    """A Markdown table in which every cell is inert."""
    for cells in chain(
        [map(markdown_cell, names), ["---"] * len(names)],
        ([markdown_cell(cell_text(cell)) for cell in row] for row in rows),
    ):
        file.write(f"| {' | '.join(cells)} |\n")


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
    if isinstance(value, float):
        return f"{value:.6g}"
    return json_text(value) if isinstance(value, (bool, dict, list, tuple)) else str(value)


def _line(cells: list[str], widths: list[int], to_right: list[bool]) -> str:
    padded = []
    for cell, width, right in zip(cells, widths, to_right, strict=True):
        shown = cell
        while _width(shown) > width:
            shown = shown.removesuffix("…")[:-1] + "…"
        space = " " * (width - _width(shown))
        padded.append(space + shown if right else shown + space)
    return GAP.join(padded).rstrip()


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


WRITERS: dict[str, Callable[..., None]] = {
    "table": print_table,
    "markdown": write_markdown,
    "csv": write_csv,
}
