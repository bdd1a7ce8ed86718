"""A TOML file -> values checked one by one; every error names the file and the key's path."""

from __future__ import annotations

import difflib
import json
import math
import re
import tomllib
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pipeline.errors import InputError, UsageError

MOST_BYTES = 1_000_000
LONGEST_SHOWN = 60
PLACE = re.compile(r"(?s)(.*) \(at (?:line (\d+), column \d+|end of document)\)")
# The parser takes the square of the parts of a key: forty kilobytes of them keep it for seconds.
MOST_PARTS = 20
PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
LONG_KEY = re.compile(f"(?:{PART}){{{MOST_PARTS}}}")


@dataclass(frozen=True)
class Table:
    """The keys a table may hold; `each` is what one is called where several come, in [[ ]]."""

    keys: str
    example: str = ""
    each: str = ""


@dataclass(frozen=True)
class Contract:
    """A kind of file: what it is called, and its tables by name; `""` is the top."""

    noun: str
    file_name: str
    tables: Mapping[str, Table]


@dataclass(frozen=True)
class Entry:
    """One value of a file by its key: names from the top down, places in lists from 0.

    None is what the file does not say; each reader then returns None too.
    """

    file: str
    value: Any
    key: tuple[str | int, ...] = ()

    @property
    def path(self) -> str:
        """The key as messages write it: `funnel[2].when`."""
        parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.key)
        return _shortened("".join(parts).removeprefix("."))

    def at(self, name: str) -> Entry:
        """What a table says under a name."""
        value = None if self.value is None else self.value.get(name)
        return Entry(self.file, value, (*self.key, name))

    def item(self, index: int) -> Entry:
        """What a list holds at a place."""
        return Entry(self.file, self.value[index], (*self.key, index))

    def items(self) -> Iterator[Entry]:
        """All that a list holds; of no list nothing."""
        return (self.item(index) for index in range(len(self.value or ())))

    def as_text(self) -> Entry:
        """The same, a whole number as the text it is written as."""
        return replace(self, value=str(self.value)) if type(self.value) is int else self

    def refused(self, why: str, *, hint: str = "") -> UsageError:
        """An error that begins with the key: `fields.reward is ...`."""
        return UsageError(f"{self.file}: {self.path} {why}", hint=hint)

    def error(self, message: str, *, hint: str = "") -> UsageError:
        """An error with words of its own after the key."""
        return UsageError(f"{self.file}: {self.path}: {message}", hint=hint)

    def wrong(self, expected: str, *, example: str) -> UsageError:
        """The value is not what the key takes; the example is."""
        why = f"is {shown(self.value)}, expected {expected}."
        return self.refused(why, hint=f"For example: {example}")

    def text(self, expected: str, *, example: str) -> str | None:
        """A text with something in it."""
        if self.value is None:
            return None
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.wrong(expected, example=example)
        if "\0" in self.value:
            raise self.refused("holds a NUL character.")
        return self.value

    def texts(self, expected: str, each: str, *, example: str) -> tuple[str, ...] | None:
        """A list of texts."""
        if self.value is None:
            return None
        if not isinstance(self.value, list):
            raise self.wrong(expected, example=example)
        return tuple(item.text(each, example=example) or "" for item in self.items())

    def integer(self, most: int, expected: str, *, example: str) -> int | None:
        """A whole number from 1 on."""
        if self.value is None:
            return None
        # true is an integer to Python.
        if type(self.value) is not int or not 1 <= self.value <= most:
            raise self.wrong(expected, example=example)
        return self.value

    def number(self, expected: str, *, example: str) -> float | None:
        """A finite number, whole or not."""
        if self.value is None:
            return None
        if type(self.value) not in (int, float):
            raise self.wrong(expected, example=example)
        try:
            value = float(self.value)
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            raise self.wrong("a finite number", example=example)
        return value

    def choice(self, allowed: tuple[str, ...]) -> str | None:
        """One of a few words."""
        if self.value is not None and self.value not in allowed:
            raise self.refused(f"is {shown(self.value)}, expected one of {', '.join(allowed)}.")
        return None if self.value is None else str(self.value)


def read(path: Path, name: str, contract: Contract) -> Entry:
    """The document of a file, with no key beyond its contract; `name` is for messages."""
    text = _text(path, name, contract)
    if found := LONG_KEY.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise UsageError(f"{name}:{line}: not TOML: a key of more than {MOST_PARTS} parts.")
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = PLACE.fullmatch(str(error))
        # What is missing at the end is on the last line.
        line = int(match[2] or 0) if match else 0
        line = line or text.rstrip("\n").count("\n") + 1
        reason = match[1] if match else error
        raise UsageError(f"{name}:{line}: not TOML: {reason}.") from error
    except (ValueError, RecursionError) as error:
        what = "a number" if isinstance(error, ValueError) else "nested"
        raise UsageError(f"{name}: not TOML: {what} beyond what can be read.") from error
    return checked(Entry(name, document), contract)


def checked(top: Entry, contract: Contract) -> Entry:
    """The document, whose tables are tables and hold only keys of the contract."""
    _refuse_unknown(top, "", contract)
    for name, table in contract.tables.items():
        entry = top.at(name)
        if not name or entry.value is None:
            continue
        is_tables = isinstance(entry.value, list) and all(isinstance(v, dict) for v in entry.value)
        if table.each and not is_tables:
            raise entry.refused(
                f"is {shown(entry.value)}, expected a list of tables.",
                hint=f"Write [[{name}]], with double brackets, above each {table.each}.",
            )
        if not table.each and not isinstance(entry.value, dict):
            raise entry.wrong("a table", example=table.example)
        for each in entry.items() if table.each else [entry]:
            _refuse_unknown(each, name, contract)
    return top


def _refuse_unknown(entry: Entry, home: str, contract: Contract) -> None:
    """A key that is not ours is named with those that may stand there, and what was meant."""
    allowed = sorted(contract.tables[home].keys.split())
    for name in entry.value:
        if name in allowed:
            continue
        homes = [other for other, table in contract.tables.items() if name in table.keys.split()]
        close = difflib.get_close_matches(name[:40], allowed, n=1, cutoff=0.5)
        hint = f"Allowed {_place(contract, home)}: {', '.join(allowed)}."
        if homes:
            hint += f" It belongs {_place(contract, homes[0])}."
        elif close:
            hint += f" Did you mean {close[0]}?"
        raise entry.at(name).refused("is not a key of this file.", hint=hint)


def _place(contract: Contract, home: str) -> str:
    if not home:
        return "at the top"
    return f"in [[{home}]]" if contract.tables[home].each else f"in [{home}]"


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


def first_repeated(values: Iterable[Hashable]) -> int | None:
    """The place of the first value that came before."""
    seen = set()
    for index, value in enumerate(values):
        if value in seen:
            return index
        seen.add(value)
    return None


def shown(value: Any) -> str:
    """A value as messages print it."""
    if isinstance(value, str):
        return json.dumps(_shortened(value), ensure_ascii=False)
    if isinstance(value, bool | int | float):
        return _shortened(str(value).lower())
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    return "a table" if isinstance(value, dict) else "a date or time"


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
