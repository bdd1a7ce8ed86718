"""Untrusted text on a page: inert, bounded, wrapped to the width and set in."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import click

from pipeline.text import neutral, one_line

WIDTH = 100
COLUMN = 16
LONGEST_NAME = 200
LONGEST_TEXT = 400
LONGEST_COMMAND = 2000
LONGEST_FLAT = 1000
NARROWEST = 20


def width() -> int:
    """How wide a page may be: what the terminal has, but no wider than is good to read."""
    return min(WIDTH, shutil.get_terminal_size().columns) if sys.stdout.isatty() else WIDTH


def inline(text: str, limit: int = LONGEST_NAME) -> str:
    """A name or a text within a line: inert, and cut where it is too long."""
    return one_line(text, limit)


def next_line(command: str) -> str:
    """A command to run next."""
    return labelled("next", inline(command, LONGEST_COMMAND))


def heading(text: str) -> str:
    """A heading, after an empty line."""
    return "\n" + click.style(text, bold=True)


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


def joined(names: Iterable[str]) -> str:
    """Names or texts on one line."""
    return inline(", ".join(names), LONGEST_TEXT)


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
        width=max(width(), len(later) + NARROWEST),
        initial_indent=first,
        subsequent_indent=later,
        break_on_hyphens=False,
    )
    return filled or first.rstrip()
