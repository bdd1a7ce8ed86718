"""Files of a package read as text or JSON, with a plain reason where they are neither; written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..files import UnreadableError, content, is_inside
from ..outputs import explained, replacing
from ..text import json_text

ELSEWHERE = "Choose another place for it."


def text_of(path: Path) -> str:
    """The text of a file; UnreadableError says why there is none."""
    try:
        return _plain(content(path).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UnreadableError(f"is not UTF-8 at byte {error.start}") from error


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


def report_text(path: Path) -> str:
    """A report that a user named; bytes that are not UTF-8 become marks of a lost character."""
    try:
        text = _plain(content(path).decode("utf-8-sig", errors="replace"))
    except UnreadableError as error:
        raise InputError(f"{path}: {error}.", hint="Check the path.") from None
    if not text.strip():
        raise InputError(f"{path}: the report is empty.", hint="Give the Markdown of a report.")
    return text


def names_in(folder: Path, ending: str = "") -> list[str]:
    """The files of a folder by name, hidden ones aside; none where it cannot be listed."""
    try:
        names = [each.name for each in folder.iterdir() if each.is_file()]
    except OSError:
        return []
    return sorted(name for name in names if name.endswith(ending) and not name.startswith("."))


def write_text(path: Path, text: str, *, folder: Path | None = None) -> None:
    """Text written beside and moved into place; from `folder` on through no linked folder."""
    if folder and not is_inside(folder, path.relative_to(folder).as_posix()):
        message = f"{path}: a link on the way leads out of {folder}."
        raise InputError(message, hint="Remove the link, or choose another folder.")
    if path.is_dir():
        raise InputError(f"{path}: is a folder.", hint=ELSEWHERE)
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, hint=ELSEWHERE) as beside:
        beside.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, value: Any, *, folder: Path | None = None) -> None:
    write_text(path, json_text(value, indent=2) + "\n", folder=folder)


def _plain(text: str) -> str:
    """Lines that end in one way."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")
