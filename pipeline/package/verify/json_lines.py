"""On which line of a JSON text each value stands."""

from __future__ import annotations

import json
import re

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
Path = tuple[str, ...]


def lines(text: str) -> dict[Path, int]:
    """The line of every key and list item, by the way to it; the text is JSON."""
    found: dict[Path, int] = {}
    # What is open: a name for objects, a number for lists.
    stack: list[str | int] = []
    line, place, is_name = 1, 0, False
    for match in TOKEN.finditer(text):
        line += text.count("\n", place, match.start())
        place, token = match.start(), match[0]
        if token in "{[":
            if stack and isinstance(stack[-1], int):
                found.setdefault(tuple(map(str, stack)), line)
            stack.append("" if token == "{" else 0)
            is_name = token == "{"
        elif token in "}]":
            stack.pop()
            is_name = False
        elif token == ",":
            if stack and isinstance(stack[-1], int):
                stack[-1] += 1
            is_name = bool(stack) and isinstance(stack[-1], str)
        elif token == ":":
            is_name = False
        elif is_name and token.startswith('"'):
            stack[-1] = json.loads(token)
            found[tuple(map(str, stack))] = line
        elif stack and isinstance(stack[-1], int):
            found[tuple(map(str, stack))] = line
    return found
