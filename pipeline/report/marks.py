"""Comments that no reader of Markdown shows: places of charts and for a curator, and sources."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote

from pipeline.report.tables import EVERY
from pipeline.text import one_line

# Values that stand in a command as they are, between quotes of SQL inside those of a shell.
QUOTABLE = re.compile(r"[A-Za-z0-9._:/@+=, -]+")
DASHES = re.compile("-(?=-)")
CURATE = re.compile(r"<!-- curate: (.*?) -->")
LONGEST = 300


@dataclass(frozen=True)
class Curation:
    """A place that waits for a person's judgement."""

    section: str
    text: str


def chart(name: str, **key: str) -> str:
    """Where a chart stands; only the HTML page draws it."""
    pairs = "&".join(f"{column}={_encoded(value)}" for column, value in key.items())
    return f"<!--blade-chart:{name}?{pairs}-->"


def chart_key(mark: str) -> tuple[str, dict[str, str]]:
    """The name and key of a chart from what follows `blade-chart:`."""
    name, _, pairs = mark.partition("?")
    return name, dict(parse_qsl(pairs, keep_blank_values=True))


def source(table: str, **key: str) -> str:
    """Where a table's rows come from, and the SQL that gives them again."""
    relation = EVERY[table].shown
    query = f"from {relation}"
    wheres = [f"{column} = '{value}'" for column, value in key.items() if QUOTABLE.fullmatch(value)]
    if len(wheres) == len(key) and wheres:
        query += f" where {' and '.join(wheres)}"
    return f'Rows of `{relation}`: `blade sql "{query}"`<!--blade-table-->'


def curate(text: str) -> str:
    """A place for a curator's judgement; its text must not end the comment."""
    told = one_line(text, LONGEST).replace("<", "(").replace(">", ")")
    return f"<!-- curate: {DASHES.sub('- ', told)} -->"


def curations(section: str, text: str) -> list[Curation]:
    """The places in the text of a section, in order."""
    return [Curation(section, told) for told in CURATE.findall(text)]


def _encoded(value: str) -> str:
    return quote(value, safe="").replace("--", "-%2D")


GLOBALS: Mapping[str, Callable[..., str]] = {"chart": chart, "curate": curate, "source": source}
