"""Values -> Markdown text: figures with their sources, names and excerpts made inert."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from pipeline.report import wording
from pipeline.report.figures import Figure
from pipeline.text import is_redacted, markdown_cell, one_line

EXCERPT = 140
LONGEST_PLACEHOLDER = 100
LONGEST_NAME = 200
MOST_NAMES = 8
LONGEST = 400
# What a table's row and a comment would take for their own, until a text is written or shown.
PIPE, OPENING = "\ue000", "\ue001"
BACKQUOTES = re.compile("`+")
ESCAPED = re.compile(rf"(\\*){PIPE}")


def pct(figure: Figure) -> str:
    """A rate as a percentage with one digit."""
    return marked(figure, lambda value: f"{100 * value:.1f}%")


def chance(figure: Figure) -> str:
    """A p or q: small ones are not 0."""
    return marked(figure, wording.chance)


def points(figure: Figure) -> str:
    """A difference of rates in percentage points, with its sign."""
    told = marked(figure, wording.points)
    return told if figure.value is None else f"{told} points"


def signed(figure: Figure) -> str:
    """A difference of rewards, with its sign."""
    return marked(figure, wording.signed)


def count(figure: Figure) -> str:
    """A count, thousands apart."""
    return marked(figure, lambda value: f"{value:,}")


def many(figure: Figure, noun: str) -> str:
    """A count of things: 1 task, 2 tasks."""
    return f"{count(figure)} {noun}{'' if figure.value == 1 else 's'}"


def num(figure: Figure) -> str:
    """A reward or a variance with four digits after the point, without idle zeros."""
    return marked(figure, lambda value: wording.short(f"{value:.4f}"))


def amount(figure: Figure) -> str:
    """An amount of tokens, turns or seconds, one digit after the point."""
    return marked(figure, lambda value: wording.short(f"{value:,.1f}"))


def span(low: Figure, high: Figure, format_: str) -> str:
    """An interval in the format of its figures; n/a once where it is undefined."""
    formatted = {"pct": pct, "num": num, "amount": amount}[format_]
    return formatted(low) if low.value is None else f"{formatted(low)} to {formatted(high)}"


def listed(names: list[str]) -> str:
    """A few names, the rest counted."""
    shown = ", ".join(ref(name) for name in names[:MOST_NAMES])
    rest = len(names) - MOST_NAMES
    return f"{shown} and {rest} more" if rest > 0 else shown


@lru_cache(maxsize=10_000)  # pages of many runs repeat the same names
def cell(text: str | Figure) -> str:
    """Text that is not ours, escaped; a null is a figure without a value."""
    return markdown_cell(one_line(text, LONGEST)) if isinstance(text, str) else "n/a"


def label(text: str) -> str:
    """Words of a profile: a name where they hold a digit, which would read as a figure."""
    return ref(text) if any(map(str.isdigit, text)) else cell(text)


@lru_cache(maxsize=10_000)
def ref(text: str | Figure, limit: int = LONGEST_NAME) -> str:
    """A name, hash, citation or quote as it is, between backquotes: nothing in it is markup."""
    if not isinstance(text, str):
        return "n/a"
    flat = one_line(text, limit)
    if not flat.strip():
        return "(empty)"
    for char in (PIPE, OPENING):
        flat = flat.replace(char, "\ufffd")
    flat = flat.replace("|", PIPE).replace("<!--", OPENING)
    fence = "`" * (1 + max(map(len, BACKQUOTES.findall(flat)), default=0))
    room = " " if flat[0] in "` " or flat[-1] in "` " else ""
    return f"{fence}{room}{flat}{room}{fence}"


def settled(text: str) -> str:
    """A line of Markdown with what stood in for others: a row of a table keeps its cells."""
    return restored(ESCAPED.sub(_escaped, text) if text.startswith("|") else text)


def _escaped(found: re.Match[str]) -> str:
    # Readers differ on whether a backslash before it escapes a pipe or is itself escaped: an odd
    # number does to all of them.
    return found[1] + "\\" * (1 + len(found[1]) % 2) + "|"


def restored(text: str) -> str:
    """What a name between backquotes says, as it was before it stood there."""
    return text.replace(PIPE, "|").replace(OPENING, "<!--")


def cite(citation: str | Figure) -> str:
    """A citation, or nothing where there is no such rollout."""
    return ref(citation) if isinstance(citation, str) else ""


def code(text: str) -> str:
    """A command inside backquotes, which it must not end; nothing in it reads as a mark."""
    return one_line(text, 1000).replace("`", "'").replace("<!--", "<! --")


def words(name: str) -> str:
    """A name of ours as words."""
    return name.replace("_", " ")


def excerpt(text: str | Figure, limit: int = EXCERPT) -> str:
    """The beginning of a long text, on one line; said where something was taken out of it."""
    if not isinstance(text, str) or not text.strip():
        return ""
    flat = " ".join(text.split())
    # A placeholder may begin within what is shown and end beyond it.
    mark = " (redacted)" if is_redacted(flat[: limit + LONGEST_PLACEHOLDER]) else ""
    return ref(flat, limit) + mark


def marked(figure: Figure, formatted: Callable[[float], str]) -> str:
    """The number in its format, n/a where there is none, and its source."""
    # A sum of rewards near the largest float may be none.
    is_number = figure.value is not None and math.isfinite(figure.value)
    text = formatted(figure.value) if is_number and figure.value is not None else "n/a"
    return text + figure.marker


FILTERS: Mapping[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (
        *(amount, cell, chance, cite, code, count, excerpt, label, listed, many, num, pct, points),
        *(ref, words),
    )
}
GLOBALS: Mapping[str, Callable[..., str]] = {"span": span}
