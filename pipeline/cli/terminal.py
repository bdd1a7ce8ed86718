"""Pages for a terminal from templates: everything printed is inert and wrapped."""

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

from ..answers.names import bounded
from ..report import aliases, sentences, templates, wording
from ..report.figures import Figure
from ..report.tables import Source
from ..text import counted, json_text, neutral, one_line
from .page import cell_text, drawn_table, is_number, width_of

WIDTH = 100
NARROWEST_TEXT = 20
LONGEST_TEXT = 400
COLUMN = 16
LONGEST_FLAT = 1000
ALIASES = "blade.aliases"
# The longest value of a page; longer texts are cut before, with a note.
LONGEST = 2000
# Markers before a cell and before a number; inert texts never contain them.
CELL = "\x1f"
NUMBER = "\x1e"


def defined(format_value: Callable[[Any], str]) -> Callable[[Any], str]:
    """Extend a format to figures and to undefined values."""
    of_value = wording.defined(format_value)
    return lambda figure: of_value(figure.value if isinstance(figure, Figure) else figure)


def show_aliases(source: Source) -> None:
    """Call runs by their aliases on all pages that this command prints from now on."""
    if context := click.get_current_context(silent=True):
        context.meta[ALIASES] = aliases.read(source)


def shown_aliases() -> dict[str, str]:
    context = click.get_current_context(silent=True)
    return context.meta.get(ALIASES, {}) if context else {}


def run_name(text: str) -> str:
    """A run, or a citation of it, as pages of this command call it."""
    return aliases.short(text, shown_aliases())


# Figures without sources, which only pages have.
PLAIN = sentences.Voice(
    defined, name=lambda text: one_line(run_name(text)), text=one_line, excerpt=one_line
)
FORMS = {**PLAIN.formats, "signed_amount": defined(wording.signed_amount)}


class Laid(str):
    """Text that is already inert and laid out: a page prints it unchanged."""


def print_page(name: str, *, json: Any = None, is_aside: bool = False, **values: Any) -> None:
    """Print a page from its template, or `json` if given; to stderr if `is_aside`."""
    text = page(f"{name}.txt", **values) if json is None else f"{json_text(json, indent=2)}\n"
    click.echo(text, nl=False, err=is_aside)


def page(name: str, **values: Any) -> str:
    return str(_environment().get_template(f"{name}.j2").render(**values))


@cache
def _environment() -> Any:
    environment = templates.environment("terminal", None, autoescape=False)
    environment.keep_trailing_newline = True
    environment.finalize = _inert
    environment.filters |= {
        # Figures.
        **PLAIN.formats,
        "g": "{:g}".format,
        "many": counted,
        "tally": _tally,
        "rounded": wording.rounded,
        "apart": lambda rate: f"{100 * rate:.1f}",
        "form": lambda figure, name: FORMS[name](figure),
        # Texts.
        "cause": wording.cause,
        "flat": _flat,
        "sentence": _sentence,
        "line": one_line,
        "run": run_name,
        "bold": lambda text, fg=None: Laid(click.style(_inert(text), bold=True, fg=fg)),
        # Blocks.
        "block": _block,
        "table": _table,
        "wrap": _rows,
        "note": lambda text: _rows(text, indent=4),
        "row": lambda text, label="": _rows(text, label, indent=2, column=COLUMN),
    }
    environment.globals |= {"cells": _cells, "phrase": _phrase, **wording.WORDS}
    return environment


def _inert(value: Any) -> str:
    if isinstance(value, Laid):
        return value
    return one_line(run_name(value) if isinstance(value, str) else cell_text(value), LONGEST)


def _flat(
    text: Mapping[str, Any] | str | None, limit: int = LONGEST_FLAT, n_characters: int | None = None
) -> str:
    """A text on one line, with its length if it was cut."""
    if isinstance(text, str):
        text = bounded(text, limit, n_characters=n_characters)
    if text is None:
        return ""
    shown = text["text"][:limit]
    is_cut = text["n_characters"] > len(shown)
    return _inert(shown) + (f"… ({text['n_characters']:,} characters)" if is_cut else "")


def _phrase(*parts: Any, by: str = ", ") -> str:
    """Join the parts that are not empty or false."""
    return by.join(part for part in parts if part)


def _tally(row: Mapping[str, Any], words: Mapping[str, str]) -> list[str]:
    """Counts with their nouns, without zeros."""
    return [f"{row[name]:,} {noun}" for name, noun in words.items() if row.get(name)]


def _block(text: Mapping[str, Any] | None, *, indent: int, most_lines: int) -> Laid:
    """A text line by line, with its length if it was cut."""
    if text is None or not text["text"].strip():
        return Laid("")
    space = " " * indent
    lines = [
        part
        for line in neutral(text["text"]).split("\n")
        for part in (_wrapped(line, space, space).split("\n") if line.strip() else [""])
    ]
    is_cut = len(lines) > most_lines or text["n_characters"] > len(text["text"])
    rest = [f"{space}… ({text['n_characters']:,} characters)"] if is_cut else []
    return Laid("\n".join([*lines[:most_lines], *rest]))


def _rows(text: str, label: str = "", *, indent: int = 0, column: int = 0) -> Laid:
    """A wrapped text with a label before it; empty if there is no text.

    All texts of one `column` begin at the same position.
    """
    words = re.sub(r"\s*\n\s*", " ", text).strip()
    before = " " * indent + _inert(label)
    if label or column:
        before = before.ljust(column) + "  "
    return Laid(f"{_wrapped(words, before, ' ' * len(before))}\n" if words else "")


def _cells(*values: Any) -> Laid:
    """A row of a table, with markers for cells and numbers."""
    bare = [each.value if isinstance(each, Figure) else each for each in values]
    return Laid("".join(CELL + NUMBER * is_number(each) + _inert(each) for each in bare))


def _table(text: str) -> Laid:
    """Rows of cells as a table: the first has the names, and notes follow their row.

    Empty columns are left out; without rows there is no table.
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
    return Laid(drawn_table(names, bare, to_right, notes[1:], width=width_of(sys.stdout)))


def _width() -> int:
    return min(WIDTH, shutil.get_terminal_size().columns) if sys.stdout.isatty() else WIDTH


def _sentence(text: str | None) -> str:
    return one_line(text or "", LONGEST_TEXT)


def _wrapped(text: str, first: str, later: str) -> str:
    return textwrap.fill(
        text,
        # At least some width for text, even after a very wide label.
        width=max(_width(), len(later) + NARROWEST_TEXT),
        initial_indent=first,
        subsequent_indent=later,
        break_on_hyphens=False,
    )
