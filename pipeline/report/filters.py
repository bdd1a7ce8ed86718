"""Values -> Markdown and pages: figures with their sources, text of others made inert, marks.

Phrases are in words.md.j2.
"""

from __future__ import annotations

import hashlib
import math
import re
import shlex
from collections.abc import Callable, Mapping, Set
from functools import lru_cache
from itertools import chain, count
from typing import Any
from urllib.parse import parse_qsl, quote

from ..text import ACTIVE, is_redacted, markdown_cell, neutral, one_line
from . import wording
from .comparisons import leading, telling
from .figures import Figure, Name, Row, bound, encoded
from .sentences import Voice, agree, foremost, parts

# Characters of a text, a name, an id or what a curator is asked; and names of a list.
SHORT, EXCERPT, LONGEST_PLACEHOLDER, LONGEST = 120, 140, 100, 400
LONGEST_NAME, LONGEST_ID, LONGEST_TASK = 200, 200, 300
# What a table's row and a comment would take for their own, until a text is written or shown.
PIPE, OPENING = "\ue000", "\ue001"
BACKQUOTES = re.compile("`+")
ESCAPED = re.compile(rf"(\\*){PIPE}")
# What an id must not hold: white space, and what a parser or a page would replace.
NO_ID = re.compile(rf"[\s%{PIPE}{OPENING}]|{ACTIVE.pattern}")
DASHES = re.compile("-(?=-)")
CURATE = re.compile(r"<!-- curate: (.*?) -->")
CHART = re.compile(r"<!--blade-chart:([^<>\s]+)-->")


def marked(formatted: Callable[[Any], str]) -> Callable[[Figure], str]:
    """A number in its format, n/a where there is none, and its source."""

    def written(figure: Figure) -> str:
        # A sum of rewards near the largest float may be none.
        is_number = figure.value is not None and math.isfinite(figure.value)
        return (formatted(figure.value) if is_number else "n/a") + figure.marker

    return written


def points(figure: Figure) -> str:
    """A difference of rates in percentage points, with its sign and unit."""
    return VOICE.points(figure) + ("" if figure.value is None else " points")


def points_apart(figure: Figure) -> str:
    """The same without a sign."""
    return points(figure).removeprefix("+")


def span(low: Figure, high: Figure, form: str) -> str:
    """An interval in the format of its figures; n/a once where it is undefined."""
    formatted = VOICE.formats[form]
    return formatted(low) if low.value is None else f"{formatted(low)} to {formatted(high)}"


@lru_cache(maxsize=10_000)
def cell(text: str | Figure) -> str:
    """Text that is not ours, escaped; a null is a figure without a value."""
    return markdown_cell(one_line(text, LONGEST)) if isinstance(text, str) else "n/a"


def label(text: str) -> str:
    """Words of a profile: a name where they hold a digit, which would read as a figure."""
    return ref(text) if any(map(str.isdigit, text)) else bound(cell(text), text)


def spaced(text: str) -> str:
    """A name of ours in plain words."""
    return bound(cell(text.replace("_", " ")), text)


def literal(value: object) -> str:
    """A value for the query of a source: nothing in it can end the comment or break its line."""
    if value is None or isinstance(value, (bool, int, float)):
        return "null" if value is None else str(value).lower()
    text = str(value).replace("'", "''")
    text = ACTIVE.sub(lambda match: f"' || chr({ord(match[0])}) || '", text)
    text = text.replace("\n", "' || chr(10) || '").replace("\t", "' || chr(9) || '")
    # A browser ends a comment at --!> too.
    return "'" + re.sub("-(?=!?>)", "-' || '", text) + "'"


def answer(word: str, row: Row, expression: str) -> str:
    """A word of ours that an expression over a row gives."""
    return bound(word, Name(word, f"{row.place}#{encoded(expression)}"))


def from_query(text: str, query: str, column: int = 1) -> str:
    """A name or a word that is the answer to a query: the first by an order, a verdict."""
    source = f"sql?{encoded(' '.join(query.split()))}#{column}"
    named = Name(text, source)
    return ref(named) if isinstance(text, Name) else bound(text, named)


def ref(text: str | Figure, limit: int = LONGEST_NAME) -> str:
    """A name, hash, citation or quote as it is, between backquotes: nothing in it is markup."""
    return bound(_code(str(text), limit), text) if isinstance(text, str) else "n/a"


@lru_cache(maxsize=10_000)  # pages of many runs repeat the same names
def _code(text: str, limit: int) -> str:
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
    """A line of Markdown with its pipes and comments restored: a table keeps its cells."""
    return restored(ESCAPED.sub(_escaped, text) if text.startswith("|") else text)


def _escaped(match: re.Match[str]) -> str:
    # Readers differ on whether a backslash before it escapes a pipe or is itself escaped: an odd
    # number does to all of them.
    return match[1] + "\\" * (1 + len(match[1]) % 2) + "|"


def restored(text: str) -> str:
    """What a name between backquotes says, as it was before."""
    return text.replace(PIPE, "|").replace(OPENING, "<!--")


def code(text: str) -> str:
    """A command inside backquotes, which it must not end; nothing in it reads as a mark."""
    return one_line(text, 1000).replace("`", "'").replace("<!--", "<! --")


def excerpt(text: str | Figure, limit: int = EXCERPT) -> str:
    """The beginning of a long text, on one line; marked where something was taken out of it."""
    if not isinstance(text, str) or not text.strip():
        return ""
    flat = " ".join(text.split())
    # A placeholder may begin within what is shown and end beyond it.
    mark = " (redacted)" if is_redacted(flat[: limit + LONGEST_PLACEHOLDER]) else ""
    cut = Name(flat, f"{text.source}~") if isinstance(text, Name) else flat
    return bound(_code(flat, limit), cut) + mark


def cause(name: str | Figure) -> str:
    """A root cause spelled out; nothing where nobody gave one."""
    if not isinstance(name, str):
        return ""
    is_known = set(name.split("+")) <= set(wording.CAUSES)
    return wording.cause(name) if is_known else ref(name)


def text_of(row: Row, column: str) -> str:
    """A text of a row with its source: it may hold figures."""
    text = getattr(row, column)
    return bound(cell(text), text)


def chart(name: str, **key: str) -> str:
    """The place of a chart; only the HTML page draws it, without a key of its only benchmark."""
    pairs = "&".join(f"{column}={encoded(value)}" for column, value in key.items())
    return f"<!--blade-chart:{name}?{pairs}-->"


def chart_key(mark: str) -> tuple[str, dict[str, str]]:
    """The name and key of a chart from what follows `blade-chart:`."""
    name, _, pairs = mark.partition("?")
    return name, dict(parse_qsl(pairs, keep_blank_values=True))


def curate(text: str) -> str:
    """A place for a curator's judgement; its text must not end the comment."""
    task = one_line(text, LONGEST_TASK).replace("<", "(").replace(">", ")")
    return f"<!-- curate: {DASHES.sub('- ', task)} -->"


def short(text: Any) -> str:
    """A name or the beginning of a question."""
    return one_line(" ".join(text.split()), SHORT) if isinstance(text, str) else ""


def shortened(text: Any, length: Figure | None = None) -> str:
    """An excerpt, already cut by its relation, and how much of it there is."""
    if not isinstance(text, str) or not text.strip():
        return "none"
    shown = neutral(" ".join(text.split()))
    if length is None or length.value is None or length.value <= len(text):
        return shown
    return f"{shown}… ({len(text):,} of {length.value:,} characters)"


def target(name: str) -> str:
    """An id: bounded, without white space or what a parser would replace, one for each name."""
    id_ = NO_ID.sub(lambda match: quote(match[0], safe="", errors="replace"), name)
    if len(id_) <= LONGEST_ID:
        return id_
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()
    return f"{id_[:LONGEST_ID]}~{digest[:16]}"


def unused(name: str, taken: Set[str], mark: str = "_") -> str:
    """A name that is not taken: with the first number from 2 where it is."""
    names = chain([name], (f"{name}{mark}{number}" for number in count(2)))
    return next(each for each in names if each not in taken)


def href(name: str) -> str:
    """A link to the id of a name."""
    return link(target(name))


def link(id_: str) -> str:
    """A link to an id of the page."""
    return "#" + quote(id_, safe="/:@!$&'()*+,;=~-._")


def shell(text: str) -> str:
    """A word of a command."""
    return neutral(shlex.quote(text))


VOICE = Voice(marked, name=ref, text=label, excerpt=excerpt, answer=answer)
FILTERS: Mapping[str, Callable[..., Any]] = {
    **VOICE.formats,
    "counts": VOICE.counts,
    "decided": VOICE.says("decided"),
    "finding": VOICE.finding,
    "line_name": VOICE.says("line_name"),
    "lines_of": VOICE.says("by"),
    "listed": VOICE.listed,
    "many": VOICE.many,
    "statements": VOICE.statements,
    **{
        each.__name__: each
        for each in (
            *(agree, answer, cause, cell, code, excerpt, foremost, label, leading, telling),
            *(parts, points, points_apart, ref, text_of, spaced, from_query, literal),
        )
    },
}
GLOBALS: Mapping[str, Any] = {
    "change": VOICE.bare,
    "change_in_unit": VOICE.change,
    "level": VOICE.level,
    "headline": VOICE.says("headline"),
    "unlike": VOICE.says("unlike"),
    "span": span,
    **{name: wording.WORDS[name] for name in ("metrics", "partings", "reasons")},
}
# Comments that no reader of Markdown shows.
MARKS: Mapping[str, Callable[..., str]] = {"chart": chart, "curate": curate}
# Of a page alone: what it prints is escaped besides.
OF_PAGES: Mapping[str, Callable[..., str]] = {
    each.__name__: each for each in (href, shell, short, shortened, target)
}
