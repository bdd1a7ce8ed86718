"""Untrusted text -> text for the page: bounded, on one line; what was cut is said."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from pipeline.report.figures import Figure
from pipeline.report.filters import OPENING, PIPE
from pipeline.text import ACTIVE, neutral, one_line

SHORT = 120
LONGEST_ID = 200
# White space, and what a parser or a page would replace.
NO_ID = re.compile(rf"[\s%{PIPE}{OPENING}]|{ACTIVE.pattern}")
NOTHING = "none"


def short(text: Any) -> str:
    """A name or the beginning of a question."""
    return one_line(" ".join(text.split()), SHORT) if isinstance(text, str) else ""


def shortened(text: Any, length: Figure | None = None) -> str:
    """An excerpt, already cut by its relation, and how much of it there is."""
    if not isinstance(text, str) or not text.strip():
        return NOTHING
    told = neutral(" ".join(text.split()))
    if length is None or length.value is None or length.value <= len(text):
        return told
    return f"{told}… ({len(text):,} of {length.value:,} characters)"


def target(name: str) -> str:
    """An id: bounded, without white space or what a parser would replace, one for each name."""
    told = NO_ID.sub(lambda found: quote(found[0], safe="", errors="replace"), name)
    if len(told) <= LONGEST_ID:
        return told
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()
    return f"{told[:LONGEST_ID]}~{digest[:16]}"


def href(name: str) -> str:
    """A link to the id of a name."""
    return link(target(name))


def link(id_: str) -> str:
    """A link to an id of the page."""
    return "#" + quote(id_, safe="/:@!$&'()*+,;=~-._")


def shell(text: str) -> str:
    """A word of a command."""
    return neutral(shlex.quote(text))


FILTERS: Mapping[str, Callable[..., str]] = {
    each.__name__: each for each in (href, shell, short, shortened, target)
}
