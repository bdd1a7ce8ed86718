"""Files that are recognised and not read: each is named for what it is."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

from ..artifact import ListedFile
from . import formats

# Names with a digit, as ids of tasks mostly are, each with a verdict, eight or more in a row.
VERDICTS = re.compile(
    rb'(?:"[^"\n\d]{0,200}\d[^"\n]{0,200}"\s*:\s*(?:[01](?:\.0)?|true|false)\s*,\s*){8}'
)
JSON = re.compile(r"\.json$", re.IGNORECASE)


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
    if title:
        return f"looks like {title}"
    if JSON.search(file.base) and not file.skipped and VERDICTS.search(formats.head(file.path)):
        return "has verdicts by name (0 or 1), of no harness"
    return None
