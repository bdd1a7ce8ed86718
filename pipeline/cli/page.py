"""Rows and untrusted text as a page for people: inert, bounded, in tables or wrapped and set in."""

from __future__ import annotations

import csv
import re
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, zip_longest
from typing import Any, TextIO

import click

from pipeline.text import json_text, markdown_cell, neutral, one_line

WIDTH = 100
COLUMN = 16
NARROWEST_TEXT = 20
LONGEST_TEXT = 400
LONGEST_COMMAND = 2000
LONGEST_FLAT = 1000

CELL_WIDTH = 72
NARROWEST_CELL = 6
GAP = "   "
FIGURE = re.compile(r"\d+\.\d%|[+-][\d,]+(?:\.\d+)?|\d+/\d+|\d+ of \d+")


def width() -> int:
    """How wide a page may be: what the terminal has, but no wider than is good to read."""
    return min(WIDTH, shutil.get_terminal_size().columns) if sys.stdout.isatty() else WIDTH


def sentence(text: str | None) -> str:
    """A text of any length within a line."""
    return one_line(text or "", LONGEST_TEXT)


def counted(number: int, noun: str) -> str:
    """`1 task`, `2,000 tasks`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def percent(rate: float | None) -> str:
    """A share as people read it."""
    return "n/a" if rate is None or rate != rate else f"{100 * rate:.1f}%"


def heading(text: str) -> str:
    """A heading, after an empty line."""
    return "\n" + click.style(text, bold=True)


def print_next(commands: Iterable[str]) -> None:
    """Commands to run next, one below the other."""
    for number, command in enumerate(commands):
        click.echo(f"{'    ' if number else 'next'}  {one_line(command, LONGEST_COMMAND)}")


def labelled(label: str, text: str, *, indent: int = 0, column: int = 0) -> str:
    """Inert text beside a label, wrapped below itself; texts of one column begin at one place."""
    before = " " * indent + label
    if label or column:
        before = before.ljust(column) + "  "
    return _wrapped(text, before, " " * len(before))


def row(label: str, text: str) -> str:
    """A labelled text of a section, in the column that all its sections share."""
    return labelled(label, text, indent=2, column=COLUMN)


def facts(*pairs: tuple[str, str | None]) -> Iterator[str]:
    """Such rows, without those that have nothing to say."""
    return (row(label, text) for label, text in pairs if text)


def phrase(*parts: Any, by: str = ", ") -> str:
    """What there is to say, in one go: parts that are empty or false are left out."""
    return by.join(part for part in parts if part)


def flat(text: Mapping[str, Any] | None, limit: int = LONGEST_FLAT) -> str:
    """A bounded text on one line, inert; what is left out is said."""
    if text is None:
        return ""
    shown = text["text"][:limit]
    left_out = text["n_characters"] > len(shown)
    rest = f"… ({text['n_characters']:,} characters)" if left_out else ""
    return neutral(shown).replace("\n", "\\n").replace("\t", " ") + rest


def block(text: Mapping[str, Any], *, indent: int, most_lines: int) -> str:
    """A bounded text as it stands, line by line; what is left out is said."""
    space = " " * indent
    lines = [
        part
        for line in neutral(text["text"]).split("\n")
        for part in (_wrapped(line, space, space).split("\n") if line.strip() else [""])
    ]
    left_out = len(lines) > most_lines or text["n_characters"] > len(text["text"])
    rest = [f"{space}… ({text['n_characters']:,} characters)"] if left_out else []
    return "\n".join([*lines[:most_lines], *rest])


def _wrapped(text: str, first: str, later: str) -> str:
    filled = textwrap.fill(
        text,
        # A label as wide as the page still leaves room for words.
        width=max(width(), len(later) + NARROWEST_TEXT),
        initial_indent=first,
        subsequent_indent=later,
        break_on_hyphens=False,
    )
    return filled or first.rstrip()


def print_table(
    names: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    notes: Iterable[str] = (),
    file: TextIO | None = None,
    is_dense: bool = False,
) -> None:
    """A table for people: numbers to the right, long text cut, nothing active.

    On a terminal the widest columns give way until it fits, then the last; elsewhere nothing does.
    A note stands below each row as it is given, inert already. A dense one has no empty column.
    """
    file = file or sys.stdout
    rows = [list(row) for row in rows]
    if is_dense:
        filled = [any(row[place] not in (None, "") for row in rows) for place in range(len(names))]
        names, *rows = [list(compress(row, filled)) for row in [names, *rows]]
    room = shutil.get_terminal_size().columns if file.isatty() else sys.maxsize
    fitting = max(1, (room + len(GAP)) // (NARROWEST_CELL + len(GAP)))
    if left_out := [one_line(name, CELL_WIDTH) for name in names[fitting:]]:
        said = f"without {', '.join(left_out)}: name the columns, or use --format jsonl"
        print(said, file=sys.stderr)
    lines = [
        [one_line(cell_text(cell), CELL_WIDTH) for cell in row[:fitting]] for row in [names, *rows]
    ]
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    gaps = len(GAP) * (len(widths) - 1)
    while sum(widths) + gaps > room and max(widths) > NARROWEST_CELL:
        widths[widths.index(max(widths))] -= 1
    to_right = [any(_is_number(row[column]) for row in rows) for column in range(len(widths))]
    first, *drawn = [_line(line, widths, to_right) for line in lines]
    file.write(f"{first}\n{'─' * (sum(widths) + gaps)}\n")
    for line, note in zip_longest(drawn, notes, fillvalue=""):
        file.write(f"{line}\n{note}\n" if note else f"{line}\n")


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
