"""The place of every value of a JSON text, and the path to it."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\],:]|[^\s"{}\[\],:]++', re.DOTALL)

# The way to a value: names of fields, and numbers of items.
Path = tuple[str, ...]


def values(text: str, above: Sequence[str] = ()) -> Iterator[tuple[int, int, Path]]:
    """Every value of a text that is JSON, with its place and path; `above` is the text's own."""
    # Of each object or list that has begun: where, and the key or number of what comes next.
    starts: list[int] = []
    path, is_key = [*above], False
    for match in TOKEN.finditer(text):
        token = match[0]
        if token in ":,":
            is_key = token == "," and text[starts[-1]] == "{"
            if token == "," and not is_key:
                path[-1] = str(int(path[-1]) + 1)
        elif token in "}]":
            is_key = False
            path.pop()
            yield starts.pop(), match.end(), tuple(path)
        elif is_key:
            path[-1] = json.loads(token, strict=False)
        elif token in "{[":
            is_key = token == "{"
            starts.append(match.start())
            path.append("0")
        elif token != "\ufeff":
            yield *match.span(), tuple(path)


def lines(text: str) -> dict[Path, int]:
    """The line of every value, by the way to it."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    return {path: bisect_right(starts, start) for start, _, path in values(text)}
