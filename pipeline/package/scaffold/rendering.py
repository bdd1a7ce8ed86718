"""The templates of a package: what is not ours comes out inert."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import jinja2

from pipeline.report import filters, marks
from pipeline.report.templates import environment
from pipeline.text import markdown_cell, one_line

EXAMPLE = 60
BRIEF = 140
QUOTED = 300
# Values that stand in a command as they are, between quotes of SQL inside those of a shell.
QUOTABLE = re.compile(r"[A-Za-z0-9._:/@+=, -]+")
# Text that stands between backquotes in a table as it is.
PLAIN = re.compile(r"[\w.:/#@+=,;()\[\]{}'\"!?*~^%$& …-]+")
# A heading of ours, or what follows a table: parts are put together without blank lines.
UNSPACED = re.compile(r"(?<!\n)\n(?=#{2,3} )")
BLANK = re.compile(r"\n{3,}")


def rendered(template: str, **values: Any) -> str:
    """One template, with one blank line between its parts, ending in one line end."""
    text = _environment().get_template(template).render(values).strip("\n") + "\n"
    # A name that begins a comment is no place for a curator, whoever looks for these.
    told = BLANK.sub("\n\n", UNSPACED.sub("\n\n", text)).replace(filters.OPENING, "<! --")
    return "\n".join(map(filters.settled, told.split("\n")))


@cache
def _environment() -> jinja2.Environment:
    made = environment("package", None, autoescape=False)
    made.filters |= {
        "ref": filters.ref,
        "brief": brief,
        "cell": filters.cell,
        "code": cell_code,
        "count": count,
        "example": example,
        "many": many,
        "number": number,
        "pct": pct,
        "quote": quote,
        "sql": sql,
        "words": filters.words,
    }
    made.globals |= {"curate": marks.curate, "share": share}
    return made


def cell_code(text: str) -> str:
    """Code of a rule in a table."""
    return f"`{filters.code(text)}`".replace("|", "\\|")


def count(value: int | None) -> str:
    """A count, thousands apart."""
    return "n/a" if value is None else f"{value:,}"


def pct(value: float | None) -> str:
    """A rate as a percentage with one digit."""
    return "n/a" if value is None else f"{100 * value:.1f}%"


def number(value: float | None) -> str:
    """A number with four digits after the point, without idle zeros."""
    return "n/a" if value is None else f"{value:.4f}".rstrip("0").rstrip(".")


def share(part: int, whole: int) -> str:
    """`3 of 4 (75.0%)`."""
    return f"{part:,} of {whole:,}" + (f" ({100 * part / whole:.1f}%)" if whole else "")


def many(value: int, noun: str) -> str:
    """A count of things: 1 task, 2 tasks."""
    return f"{count(value)} {noun}{'' if value == 1 else 's'}"


def example(text: str | None) -> str:
    """A short value, inert."""
    return _shown(text, EXAMPLE)


def brief(text: str | None) -> str:
    """A sentence or so, inert."""
    return _shown(text, BRIEF)


def quote(text: str | None) -> str:
    """The beginning of a longer text, inert."""
    return _shown(text, QUOTED)


def sql(text: str) -> str:
    """A text between quotes of SQL inside those of a shell; one that could end them is left out."""
    return text if QUOTABLE.fullmatch(text) else "..."


def _shown(text: str | None, width: int) -> str:
    """Between backquotes where nothing in it could end them or a cell, else escaped."""
    shown = one_line(" ".join((text or "").split()), width)
    if not shown:
        return ""
    return f"`{shown}`" if PLAIN.fullmatch(shown) else markdown_cell(shown)
