"""Read and check a TOML file by its contract; every error names the file and the key."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from . import files
from .errors import InputError, UsageError, did_you_mean

MOST_BYTES = 1_000_000
LONGEST_SHOWN = 60
PLACE = re.compile(r"(?s)(.*) \(at (?:line (\d+), column \d+|end of document)\)")
# The parser is quadratic in the parts of a key: 40 kB of them take seconds.
MOST_PARTS = 20
PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
# Matches only from the beginning of a word; from each letter it would be quadratic.
LONG_KEY = re.compile(rf"(?<![\w-])(?:{PART}){{{MOST_PARTS}}}")


@dataclass(frozen=True)
class Entry:
    """One value of a file and its key: names of tables and positions in lists, from 0.

    The value is None if the file does not have the key.
    """

    file: str
    value: Any
    key: tuple[str | int, ...] = ()

    def at(self, name: str) -> Entry:
        """The entry of a table under a name."""
        value = None if self.value is None else self.value.get(name)
        return Entry(self.file, value, (*self.key, name))

    def items(self) -> Iterator[Entry]:
        """The items of a list; none if there is no list."""
        for index, value in enumerate(self.value or ()):
            yield Entry(self.file, value, (*self.key, index))

    def error(self, message: str, *, hint: str = "", after: str = ": ") -> UsageError:
        """An error with its place in front: `blade.toml: funnel[2].when: ...`."""
        parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.key)
        path = _shortened("".join(parts).removeprefix("."))
        return UsageError(f"{self.file}: {path}{after}{message}", hint=hint)

    def refused(self, why: str, *, hint: str = "") -> UsageError:
        """An error whose sentence begins with the key: `fields.reward is ...`."""
        return self.error(why, hint=hint, after=" ")

    def wrong(self, expected: str, *, example: str) -> UsageError:
        """An error for a value of the wrong kind, with an example of a right one."""
        why = f"is {shown(self.value)}, expected {expected}."
        return self.refused(why, hint=f"For example: {example}")


def text(entry: Entry, expected: str, example: str) -> str:
    value = entry.value
    if not isinstance(value, str) or not value.strip():
        raise entry.wrong(expected, example=example)
    if "\0" in value:
        raise entry.refused("contains a NUL character.")
    return value


def name(entry: Entry, expected: str, example: str) -> str:
    """A text; a whole number is converted to text."""
    # true is an integer to Python.
    value = str(entry.value) if type(entry.value) is int else entry.value
    return text(replace(entry, value=value), expected, example)


def integer(
    entry: Entry, most: int, example: str, expected: str = "an integer from 1 to {}"
) -> int:
    value = entry.value
    if type(value) is not int or not 1 <= value <= most:
        raise entry.wrong(expected.format(most), example=example)
    return value


def number(entry: Entry, expected: str, least: float, most: float, example: str) -> float:
    if type(entry.value) not in (int, float):
        raise entry.wrong(expected, example=example)
    try:
        value = float(entry.value)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise entry.wrong("a finite number", example=example)
    if not least <= value <= most:
        raise entry.wrong(expected, example=example)
    return value


def flag(entry: Entry) -> bool:
    if not isinstance(entry.value, bool):
        raise entry.wrong("true or false", example=f"{entry.key[-1]} = true")
    return entry.value


def choice(entry: Entry, *allowed: str) -> str:
    if entry.value not in allowed:
        raise entry.refused(f"is {shown(entry.value)}, expected one of {', '.join(allowed)}.")
    return str(entry.value)


@dataclass(frozen=True)
class Table:
    """A table of a file; `each` is the noun for one table of several, written in [[ ]].

    `required` are keys that must be present, and `called` is the name of the table in messages.
    `once` lists keys that must differ between tables, with message and hint. `check` checks all
    values together.
    """

    example: str = ""
    each: str = ""
    required: tuple[str, ...] = ()
    called: str = ""
    once: tuple[tuple[str, ...], str, str] | None = None
    check: Callable[[Entry, dict[str, Any]], None] = lambda entry, values: None


@dataclass(frozen=True)
class Contract:
    """A kind of file: its noun and name, its keys as `table.key`, and its tables by name.

    The value of a key is a function that reads the entry, followed by its other arguments; the last
    one is an example.
    """

    noun: str
    file_name: str
    keys: Mapping[str, tuple[Callable[..., Any], *tuple[Any, ...]]]
    tables: Mapping[str, Table]

    def at(self, home: str) -> dict[str, Any]:
        """The keys of a table, or of the top."""
        parts = ((*key.rpartition("."), how) for key, how in self.keys.items())
        return {name: how for table, _, name, how in parts if table == home}

    def allowed(self, home: str) -> list[str]:
        """The names allowed in a table; at the top also those of tables."""
        return sorted([*self.at(home), *(self.tables if not home else ())])

    def place(self, home: str) -> str:
        """The place of a table, in words."""
        if not home:
            return "at the top"
        return f"in [[{home}]]" if self.tables[home].each else f"in [{home}]"


def read(path: Path, name: str, contract: Contract) -> dict[str, Any]:
    """The values of a file by table and key, None if absent; `name` is for messages."""
    content = _text(path, name, contract)
    if long_key := LONG_KEY.search(content):
        line = content.count("\n", 0, long_key.start()) + 1
        raise UsageError(f"{name}:{line}: not TOML: a key of more than {MOST_PARTS} parts.")
    try:
        document = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        match = PLACE.fullmatch(str(error))
        # An error at the end of the document is on the last line.
        line = int(match[2] or 0) if match else 0
        line = line or content.rstrip("\n").count("\n") + 1
        reason = match[1] if match else error
        hint = "Write key = value, with text in double quotes; docs/cli.md has examples."
        raise UsageError(f"{name}:{line}: not TOML: {reason}.", hint=hint) from error
    except (ValueError, RecursionError) as error:
        what = "a number" if isinstance(error, ValueError) else "nested"
        raise UsageError(f"{name}: not TOML: {what} beyond what can be read.") from error
    return checked(document, name, contract)


def checked(document: Mapping[str, Any], name: str, contract: Contract) -> dict[str, Any]:
    """The values of a document, checked by its contract."""
    top = Entry(name, document)
    values = _values(top, "", contract)
    for home, table in contract.tables.items():
        entry = top.at(home)
        if table.each:
            values[home] = _tables(entry, home, contract)
        elif entry.value is None or isinstance(entry.value, dict):
            values[home] = _values(entry, home, contract)
            table.check(entry, values[home])
        else:
            raise entry.wrong("a table", example=table.example)
    return values


def _values(entry: Entry, home: str, contract: Contract) -> dict[str, Any]:
    """The values of one table; an unknown key is an error that lists the allowed ones."""
    allowed = contract.allowed(home)
    for name in entry.value or ():
        if name not in allowed:
            places = [place for place in ("", *contract.tables) if name in contract.allowed(place)]
            meant = did_you_mean(name, allowed, cutoff=0.5)
            if places:
                meant = f"It belongs {contract.place(places[0])}."
            hint = f"Allowed {contract.place(home)}: {', '.join(allowed)}. {meant}".strip()
            raise entry.at(name).refused("is not a key of this file.", hint=hint)
    return {
        name: None if entry.at(name).value is None else read(entry.at(name), *how)
        for name, (read, *how) in contract.at(home).items()
    }


def _tables(entry: Entry, home: str, contract: Contract) -> list[dict[str, Any]]:
    """The values of all tables of one name, in the order of the file."""
    table = contract.tables[home]
    tables: list[dict[str, Any]] = []
    listed = [] if entry.value is None else entry.value
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise entry.refused(
            f"is {shown(listed)}, expected a list of tables.",
            hint=f"Write [[{home}]], with double brackets, above each {table.each}.",
        )
    for item in entry.items():
        tables.append(_values(item, home, contract))
        for name in table.required:
            if tables[-1][name] is None:
                *_, example = contract.keys[f"{home}.{name}"]
                raise item.error(f"{table.called} has no {name}.", hint=f"Add: {example}")
        table.check(item, tables[-1])
    if table.once:
        names, message, hint = table.once
        keys = [tuple(values[name] for name in names) for values in tables]
        if (twice := first_repeated(keys)) is not None:
            text = message.format(*(shown(value)[1:-1] for value in keys[twice]))
            raise Entry(entry.file, None, (home, twice, names[0])).error(text, hint=hint)
    return tables


def _text(path: Path, name: str, contract: Contract) -> str:
    try:
        content = files.content(path, most=MOST_BYTES)
    except files.UnreadableError as error:
        hint = f"A {contract.noun} is a TOML file such as {contract.file_name}."
        raise InputError(f"{name}: {error}.", hint=hint) from error
    try:
        # Editors on Windows write a byte order mark, which TOML does not allow.
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{name}:{line}: not UTF-8 text.", hint="Save the file with the encoding UTF-8."
        ) from error


def first_repeated(values: Iterable[Hashable]) -> int | None:
    """The position of the first value that repeats an earlier one."""
    first: dict[Hashable, int] = {}
    return next((at for at, value in enumerate(values) if first.setdefault(value, at) != at), None)


def shown(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(_shortened(value), ensure_ascii=False)
    if isinstance(value, bool | int | float):
        return _shortened(str(value).lower())
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    return "a table" if isinstance(value, dict) else "a date or time"


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"
