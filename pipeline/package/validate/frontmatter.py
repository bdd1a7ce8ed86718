"""The frontmatter of a skill: `key: value` lines between two rules, no more of YAML than that."""

from __future__ import annotations

import re
from collections.abc import Mapping

FENCE = re.compile(r"---[ \t]*")
KEY = re.compile(r"(?P<key>[A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(?P<value>.*))?")
BLOCK = re.compile(r"[>|][+-]?\d?")


class NoFrontmatterError(Exception):
    """Why a text has no usable frontmatter, in words."""


def split(text: str) -> tuple[Mapping[str, str], str]:
    """The keys of the frontmatter, and the text below it on the lines where it stood."""
    lines = text.split("\n")
    if not FENCE.fullmatch(lines[0]):
        raise NoFrontmatterError("the file does not begin with a line of three dashes")
    end = next((at for at, line in enumerate(lines[1:], 1) if FENCE.fullmatch(line)), None)
    if end is None:
        raise NoFrontmatterError("no second line of three dashes ends it")
    return _values(lines[1:end]), "\n".join([""] * (end + 1) + lines[end + 1 :])


def _values(lines: list[str]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    key = ""
    for number, line in enumerate(lines, 2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line[0] in " \t-":
            if not key:
                raise NoFrontmatterError(f"line {number}: a value without a key")
            # A list or the next line of a long value belongs to the key above it.
            found[key].append(line.strip())
        elif match := KEY.fullmatch(line):
            key = match["key"]
            if key in found:
                raise NoFrontmatterError(f"line {number}: {key} is given twice")
            found[key] = [(match["value"] or "").strip()]
        else:
            raise NoFrontmatterError(f"line {number}: is no `key: value`")
    return {key: _unquoted(_unfolded(*pieces)) for key, pieces in found.items()}


def _unfolded(first: str, *rest: str) -> str:
    pieces = rest if BLOCK.fullmatch(first) else (first, *rest)
    return " ".join(piece for piece in pieces if piece)


def _unquoted(value: str) -> str:
    for quote in "\"'":
        if len(value) >= 2 and value[0] == value[-1] == quote:
            return value[1:-1].strip()
        if value[:1] == quote:
            raise NoFrontmatterError("a quoted value does not end")
    return value.strip()
