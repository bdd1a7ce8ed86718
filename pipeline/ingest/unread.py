"""Formats that are recognised and not read: a file of theirs is named for what it is."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

from ..artifact import ListedFile
from . import formats


@cache
def declared() -> list[list[str]]:
    """The title, the pattern of names and the first words of each format."""
    path = Path(__file__).with_suffix(".toml")
    listed: list[list[str]] = tomllib.loads(path.read_text(encoding="utf-8"))["formats"]
    return listed


def reason(file: ListedFile) -> str | None:
    """Why a file is not read, if it looks like one of these formats."""
    named = [one for one in declared() if re.search(one[1], file.name, re.IGNORECASE)]
    begun = formats.head(file.path) if named and not file.skipped else b""
    titles = (title for title, _, *words in named if all(word.encode() in begun for word in words))
    title = next(titles, None)
    return f"looks like {title}" if title else None
