"""A file's bytes -> its TOML document, with a place for every complaint about it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import InputError, UsageError
from pipeline.toml.lines import ExcessError, Key, key_lines

MOST_BYTES = 1_000_000
LONGEST_SHOWN = 60
PLACE = re.compile(r"(?s)(.*) \(at (?:line (\d+), column \d+|end of document)\)")


@dataclass(frozen=True)
class Contract:
    """A kind of file: what it is called, and which keys may stand in which of its tables.

    The table `""` is the top; those that come several times are `repeated`, in double brackets.
    """

    noun: str
    file_name: str
    keys: Mapping[str, frozenset[str]]
    repeated: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Source:
    """A parsed file: its name in messages, what it may say, what it says, and where."""

    name: str
    contract: Contract
    document: Mapping[str, Any]
    lines: Mapping[Key, int]


@dataclass(frozen=True)
class Entry:
    """One value of a file with the key it has there."""

    source: Source
    key: Key
    value: Any

    @property
    def line(self) -> int:
        """The line on which its key stands."""
        return self.source.lines.get(self.key, 1)

    @property
    def label(self) -> str:
        """The key as people write it."""
        return shortened(".".join(part for part in self.key if isinstance(part, str)))

    def error(self, told: str, *, hint: str = "") -> UsageError:
        """What is wrong, with the file and line in front."""
        return UsageError(f"{self.source.name}:{self.line}: {told}", hint=hint)

    def wrong(self, expected: str, *, example: str) -> UsageError:
        """The value is not what the key takes; the example is."""
        told = f"{self.label} is {shown(self.value)}, expected {expected}."
        return self.error(told, hint=f"For example: {example}")


def read_source(path: Path, name: str, contract: Contract) -> Source:
    """The file's document and the lines of its keys."""
    text = _text(path, name, contract)
    try:
        lines = key_lines(text)
        return Source(name, contract, tomllib.loads(text), lines)
    except ExcessError as error:
        raise UsageError(f"{name}:{error.line}: not TOML: {error}.") from error
    except ValueError as error:
        reason, line = _reason(str(error), text)
        raise UsageError(f"{name}:{line}: not TOML: {reason}.") from error


def shown(value: Any) -> str:
    """A value as a message tells it."""
    if isinstance(value, str):
        return json.dumps(shortened(value), ensure_ascii=False)
    if isinstance(value, bool | int | float):
        return shortened(str(value).lower())
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    return "a table" if isinstance(value, dict) else "a date or time"


def shortened(text: str) -> str:
    """Enough of a text to know it by."""
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _text(path: Path, name: str, contract: Contract) -> str:
    # A pipe or a device could keep us waiting for ever.
    if not path.is_file():
        what = "is not a file" if path.exists() else "no such file"
        hint = f"A {contract.noun} is a TOML file such as {contract.file_name}."
        raise InputError(f"{name}: {what}.", hint=hint)
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}.") from error
    if len(content) > MOST_BYTES:
        raise InputError(f"{name}: more than {MOST_BYTES} bytes, too large for a {contract.noun}.")
    try:
        # Editors on Windows write a mark in front, which TOML does not know.
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{name}:{line}: not UTF-8 text.", hint="Save the file with the encoding UTF-8."
        ) from error


def _reason(message: str, text: str) -> tuple[str, int]:
    """The parser's complaint and its line; what is missing at the end is on the last line."""
    match = PLACE.fullmatch(message)
    last = text.rstrip("\n").count("\n") + 1
    return (match[1], int(match[2] or last)) if match else (message, last)
