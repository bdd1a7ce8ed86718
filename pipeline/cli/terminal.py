"""Pages for a terminal, by their templates: whatever a page prints is inert, wrapped and bare."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Mapping
from functools import cache
from itertools import compress
from typing import Any

import click

from pipeline.answers.names import bounded
from pipeline.cli.page import cell_text, drawn_table, is_number, room_of
from pipeline.report import sentences, templates, wording
from pipeline.report.figures import Figure
from pipeline.text import counted, json_text, neutral, one_line

WIDTH = 100
NARROWEST_TEXT = 20
LONGEST_TEXT = 400
COLUMN = 16
LONGEST_FLAT = 1000
# Of whatever a page prints in one place; longer texts are cut before, and say so.
LONGEST = 2000
# Before each cell of a row, and before a number: no text that is inert holds them.
CELL, NUMBER = "\x1f", "\x1e"


def defined(said: Callable[[Any], str]) -> Callable[[Any], str]:
    """The same of a figure or its value, which may be undefined."""

    def shown(figure: Any) -> str:
        value = figure.value if isinstance(figure, Figure) else figure
        return "n/a" if value is None or value != value else said(value)

    return shown


# Figures as a terminal prints them: bare, since a page carries the sources.
PLAIN = sentences.Voice(defined, name=one_line, text=one_line)
FORMS = {**PLAIN.formats, "signed_amount": defined(wording.signed_amount)}


class Laid(str):
    """Text that is inert and laid out: a page prints it as it stands."""


def print_page(name: str, *, json: Any = None, is_aside: bool = False, **values: Any) -> None:
    """A page by its template, or what is given as JSON; aside where stdout is for another."""
    text = page(f"{name}.txt", **values) if json is None else f"{json_text(json, indent=2)}\n"
    click.echo(text, nl=False, err=is_aside)


def page(name: str, **values: Any) -> str:
    """The text of a page."""
    return str(_environment().get_template(f"{name}.j2").render(**values))


@cache
def _environment() -> Any:
    made = templates.environment("terminal", None, autoescape=False)
    made.keep_trailing_newline = True
    made.finalize = _inert
    made.filters |= {
        # Figures.
        **PLAIN.formats,
        **{"g": "{:g}".format, "many": counted, "tally": _tally},
        "rounded": wording.rounded,
        "apart": lambda rate: f"{100 * rate:.1f}",
        "form": lambda figure, name: FORMS[name](figure),
        # Texts.
        **{"cause": wording.cause, "flat": _flat, "sentence": _sentence, "line": one_line},
        "bold": lambda text, fg=None: Laid(click.style(_inert(text), bold=True, fg=fg)),
        # Blocks.
        **{"block": _block, "table": _table, "wrap": _rows},
        "note": lambda text: _rows(text, indent=4),
        "row": lambda text, label="": _rows(text, label, indent=2, column=COLUMN),
    }
    made.globals |= {"cells": _cells, "phrase": _phrase, **wording.WORDS}
    return made


def _inert(value: Any) -> str:
    if isinstance(value, Laid):
        return value
    return one_line(cell_text(value), LONGEST)


def _flat(
    text: Mapping[str, Any] | str | None, limit: int = LONGEST_FLAT, n_characters: int | None = None
) -> str:
    """A text on one line, bounded already or by its beginning; what is left out is said."""
    if isinstance(text, str):
        text = bounded(text, limit, n_characters=n_characters)
    if text is None:
        return ""
    shown = text["text"][:limit]
    left_out = text["n_characters"] > len(shown)
    return _inert(shown) + (f"… ({text['n_characters']:,} characters)" if left_out else "")


def _phrase(*parts: Any, by: str = ", ") -> str:
    """What there is to say, in one go: parts that are empty or false are left out."""
    return by.join(part for part in parts if part)


def _tally(row: Mapping[str, Any], words: Mapping[str, str]) -> list[str]:
    """How many of each, without what there is none of."""
    return [f"{row[name]:,} {said}" for name, said in words.items() if row.get(name)]


def _block(text: Mapping[str, Any] | None, *, indent: int, most_lines: int) -> Laid:
    """A bounded text as it stands, line by line; what is left out is said."""
    if text is None or not text["text"].strip():
        return Laid("")
    space = " " * indent
    lines = [
        part
        for line in neutral(text["text"]).split("\n")
        for part in (_wrapped(line, space, space).split("\n") if line.strip() else [""])
    ]
    left_out = len(lines) > most_lines or text["n_characters"] > len(text["text"])
    rest = [f"{space}… ({text['n_characters']:,} characters)"] if left_out else []
    return Laid("\n".join([*lines[:most_lines], *rest]))


def _rows(text: str, label: str = "", *, indent: int = 0, column: int = 0) -> Laid:
    """A block of a template beside a label, wrapped below itself; of nothing, nothing.

    Texts of one column begin at one place.
    """
    words = re.sub(r"\s*\n\s*", " ", text).strip()
    before = " " * indent + _inert(label)
    if label or column:
        before = before.ljust(column) + "  "
    return Laid(f"{_wrapped(words, before, ' ' * len(before))}\n" if words else "")


def _cells(*values: Any) -> Laid:
    """A row of a table, its numbers marked."""
    bare = [each.value if isinstance(each, Figure) else each for each in values]
    return Laid("".join(CELL + NUMBER * is_number(each) + _inert(each) for each in bare))


def _table(text: str) -> Laid:
    """A block of a template as a table: rows of cells, the names first, and notes below them.

    A column that is empty in all rows is left out; without rows there is no table.
    """
    rows: list[list[str]] = []
    notes: list[str] = []
    for line in text.removesuffix("\n").split("\n"):
        if CELL in line:
            rows.append(line.split(CELL)[1:])
            notes.append("")
        else:
            notes[-1] += f"{line}\n"
    if len(rows) == 1:
        return Laid("")
    filled = [any(row[place] for row in rows[1:]) for place in range(len(rows[0]))]
    names, *rows = [list(compress(row, filled)) for row in rows]
    to_right = [any(row[place][:1] == NUMBER for row in rows) for place in range(len(names))]
    bare = [[cell.removeprefix(NUMBER) for cell in row] for row in rows]
    return Laid(drawn_table(names, bare, to_right, notes[1:], room=room_of(sys.stdout)))


def _width() -> int:
    """How wide a page may be: what the terminal has, but no wider than is good to read."""
    return min(WIDTH, shutil.get_terminal_size().columns) if sys.stdout.isatty() else WIDTH


def _sentence(text: str | None) -> str:
    """A text of any length within a line."""
    return one_line(text or "", LONGEST_TEXT)


def _wrapped(text: str, first: str, later: str) -> str:
    """Text in lines of a page, the first and the others with what stands before them."""
    return textwrap.fill(
        text,
        # A label as wide as the page still leaves room for words.
        width=max(_width(), len(later) + NARROWEST_TEXT),
        initial_indent=first,
        subsequent_indent=later,
        break_on_hyphens=False,
    )
