"""A text read another way (unescaped, decoded), with the way back to where each part stood."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class View:
    """A text made from another one; where the two differ, the places in both."""

    text: str
    starts: tuple[int, ...]  # in this text
    ends: tuple[int, ...]
    origin_starts: tuple[int, ...]  # in the text it was made from
    origin_ends: tuple[int, ...]

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of this text stands in the text it was made from."""
        return self._place(start, is_end=False), self._place(end, is_end=True)

    def _place(self, at: int, *, is_end: bool) -> int:
        # A part ends behind its last character, and takes the whole escape of that.
        inside = at - 1 if is_end else at
        k = bisect_right(self.starts, inside) - 1
        if k < 0:
            return at
        if inside < self.ends[k]:
            return self.origin_ends[k] if is_end else self.origin_starts[k]
        return self.origin_ends[k] + at - self.ends[k]


def view(text: str, escapes: re.Pattern[str], meaning: Callable[[re.Match[str]], str]) -> View:
    """The text with each escape as what it means."""
    parts: list[str] = []
    starts, ends, origin_starts, origin_ends = [], [], [], []
    length = last = 0
    for match in escapes.finditer(text):
        meant = meaning(match)
        if meant == match[0]:
            continue
        parts += (text[last : match.start()], meant)
        length += match.start() - last
        starts.append(length)
        length += len(meant)
        ends.append(length)
        origin_starts.append(match.start())
        origin_ends.append(match.end())
        last = match.end()
    parts.append(text[last:])
    return View(
        "".join(parts), tuple(starts), tuple(ends), tuple(origin_starts), tuple(origin_ends)
    )
