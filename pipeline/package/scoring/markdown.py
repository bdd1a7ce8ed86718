"""A report's text as chunks below its section headings, to be put together again otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

HEADING = re.compile(r"#{1,6}\s")
SECTION = re.compile(r"#{1,2}\s")
FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
CODE = re.compile(r"(`[^`\n]*`)")


@dataclass(frozen=True)
class Chunk:
    """A heading of the first or second level and the lines below it; the first may have none."""

    heading: str
    body: list[str]


def chunks(text: str) -> list[Chunk]:
    """A report cut at its sections; headings within fences are none."""
    found = [Chunk("", [])]
    for line, is_fenced in fenced(text):
        if SECTION.match(line) and not is_fenced:
            found.append(Chunk(line, []))
        else:
            found[-1].body.append(line)
    return found


def joined(found: list[Chunk]) -> str:
    """The chunks as one text."""
    lines = [
        line for chunk in found for line in ([chunk.heading] if chunk.heading else []) + chunk.body
    ]
    return "\n".join(lines)


def fenced(text: str) -> Iterator[tuple[str, bool]]:
    """Lines, and whether each lies within a fence."""
    fence = ""
    for line in text.split("\n"):
        match = FENCE.match(line)
        if match and not fence:
            fence = match[1][:3]
            yield line, True
        elif match and match[1].startswith(fence):
            fence = ""
            yield line, True
        else:
            yield line, bool(fence)


def outside_code(line: str, change: Callable[[str], str]) -> str:
    """A line with all but its code spans changed."""
    pieces = CODE.split(line)
    return "".join(piece if place % 2 else change(piece) for place, piece in enumerate(pieces))
