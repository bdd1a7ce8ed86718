"""Files of a package as text or JSON, with a plain reason where they are neither."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MOST_BYTES = 16 << 20


class UnreadableError(Exception):
    """Why a file cannot be used, in words."""


def text_of(path: Path) -> str:
    """The text of a file; UnreadableError says why there is none."""
    try:
        if not path.is_file():
            raise UnreadableError("is a folder" if path.is_dir() else "is not there")
        if path.stat().st_size > MOST_BYTES:
            raise UnreadableError(f"has more than {MOST_BYTES >> 20} MB")
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"is not UTF-8 at byte {error.start}") from error
    except OSError as error:
        raise UnreadableError(
            f"cannot be read: {error.strerror or 'the system refuses it'}"
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def object_of(path: Path) -> dict[str, Any]:
    """The JSON object in a file; UnreadableError says why there is none."""
    text = text_of(path)
    if not text.strip():
        raise UnreadableError("is empty")
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise UnreadableError("is nested too deeply") from error
    except ValueError as error:
        raise UnreadableError(f"is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise UnreadableError("is JSON, but no object")
    return value


def is_there(path: Path) -> bool:
    """Whether anything stands at this path."""
    try:
        return path.exists()
    except OSError:
        return False


def names_in(folder: Path, ending: str = "") -> list[str]:
    """The files of a folder by name, hidden ones aside; none where it cannot be listed."""
    try:
        names = [each.name for each in folder.iterdir() if each.is_file()]
    except OSError:
        return []
    return sorted(name for name in names if name.endswith(ending) and not name.startswith("."))


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")
