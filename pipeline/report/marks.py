"""Comments that no reader of Markdown shows: places of charts, and for a curator."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import parse_qsl, quote

from pipeline.text import one_line

# Values that stand in a command as they are, between quotes of SQL inside those of a shell.
QUOTABLE = re.compile(r"[A-Za-z0-9._:/@+=, -]+")
DASHES = re.compile("-(?=-)")
CURATE = re.compile(r"<!-- curate: (.*?) -->")
LONGEST = 300
CHART = re.compile(r"<!--blade-chart:(.*?)-->")


def chart(name: str, **key: str) -> str:
    """Where a chart stands; only the HTML page draws it."""
    pairs = "&".join(f"{column}={_encoded(value)}" for column, value in key.items())
    return f"<!--blade-chart:{name}?{pairs}-->"


def chart_key(mark: str) -> tuple[str, dict[str, str]]:
    """The name and key of a chart from what follows `blade-chart:`."""
    name, _, pairs = mark.partition("?")
    return name, dict(parse_qsl(pairs, keep_blank_values=True))


def curate(text: str) -> str:
    """A place for a curator's judgement; its text must not end the comment."""
    told = one_line(text, LONGEST).replace("<", "(").replace(">", ")")
    return f"<!-- curate: {DASHES.sub('- ', told)} -->"


def _encoded(value: str) -> str:
    return quote(value, safe="").replace("--", "-%2D")


GLOBALS: Mapping[str, Callable[..., str]] = {"chart": chart, "curate": curate}
