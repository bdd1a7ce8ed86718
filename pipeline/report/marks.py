"""Comments that no reader of Markdown shows: places of charts, and for a curator."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import parse_qsl

from pipeline.report.figures import encoded
from pipeline.text import one_line

DASHES = re.compile("-(?=-)")
CURATE = re.compile(r"<!-- curate: (.*?) -->")
LONGEST = 300
CHART = re.compile(r"<!--blade-chart:(.*?)-->")


def chart(name: str, **key: str) -> str:
    """Where a chart stands; only the HTML page draws it."""
    pairs = "&".join(f"{column}={encoded(value)}" for column, value in key.items())
    return f"<!--blade-chart:{name}?{pairs}-->"


def chart_key(mark: str) -> tuple[str, dict[str, str]]:
    """The name and key of a chart from what follows `blade-chart:`."""
    name, _, pairs = mark.partition("?")
    return name, dict(parse_qsl(pairs, keep_blank_values=True))


def curate(text: str) -> str:
    """A place for a curator's judgement; its text must not end the comment."""
    told = one_line(text, LONGEST).replace("<", "(").replace(">", ")")
    return f"<!-- curate: {DASHES.sub('- ', told)} -->"


GLOBALS: Mapping[str, Callable[..., str]] = {"chart": chart, "curate": curate}
