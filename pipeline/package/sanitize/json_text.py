"""JSON as text: whether it is any, what a string of it says, and where that stands in it."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from pipeline.package.sanitize.alignment import View, view
from pipeline.package.sanitize.values import Span

ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL
)
SHORT = {r"\n": "\n", r"\t": "\t", r"\r": "\r", r"\"": '"', r"\\": "\\", r"\/": "/"}


def is_json(text: str) -> bool:
    """Whether a text is an object, a list or a string of JSON; Python's parser says."""
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return False
    try:
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def said(raw: str) -> str:
    """What stands between the quotes of a JSON string says."""
    return str(json.loads(f'"{raw}"', strict=False)) if "\\" in raw else raw


def decoded(raw: str) -> View:
    """The same, with the way back; slower."""
    return view(raw, ESCAPE, _meaning)


def _meaning(match: re.Match[str]) -> str:
    return SHORT.get(match[0]) or str(json.loads(f'"{match[0]}"'))


def outward(span: Span, read: View, offset: int) -> Span:
    """A part of a string's text, as a part of the text that the string stands in."""
    start, end = read.origin(span.start, span.end)
    quote = json.dumps(span.quote)[1:-1]
    return replace(span, start=start + offset, end=end + offset, quote=quote)
