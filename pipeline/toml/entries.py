"""How any value of a file is read: tables of known keys, texts, numbers; else a complaint."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pipeline.errors import UsageError
from pipeline.toml.source import Contract, Entry, shown

# A reader takes an entry and returns the attributes that it settles.
Reader = Callable[[Entry], dict[str, Any]]


def table(entry: Entry, readers: Mapping[str, Reader]) -> dict[str, Any]:
    """What the readers make of a table's values, in the order of the file."""
    attributes: dict[str, Any] = {}
    for name, value in entry.value.items():
        inner = Entry(entry.source, (*entry.key, name), value)
        if name not in readers:
            raise _unknown(inner)
        attributes |= readers[name](inner)
    return attributes


def tables(entry: Entry, each: str) -> Iterator[Entry]:
    """The tables under a name that is written in double brackets."""
    is_tables = isinstance(entry.value, list) and all(isinstance(v, dict) for v in entry.value)
    if not is_tables:
        told = f"{entry.label} is {shown(entry.value)}, expected a list of tables."
        hint = f"Write [[{entry.label}]], with double brackets, above each {each}."
        raise entry.error(told, hint=hint)
    for index, value in enumerate(entry.value):
        yield Entry(entry.source, (*entry.key, index), value)


def text(entry: Entry, expected: str, *, example: str) -> str:
    """A text with something in it."""
    if not isinstance(entry.value, str) or not entry.value.strip():
        raise entry.wrong(expected, example=example)
    if "\0" in entry.value:
        raise entry.error(f"{entry.label} holds a NUL character.")
    return entry.value


def integer(entry: Entry, most: int, expected: str, *, example: str) -> int:
    """A whole number from 1 on."""
    # true is an integer to Python.
    if type(entry.value) is not int or not 1 <= entry.value <= most:
        raise entry.wrong(expected, example=example)
    return entry.value


def number(entry: Entry, expected: str, *, example: str) -> float:
    """A finite number, whole or not."""
    if type(entry.value) not in (int, float):
        raise entry.wrong(expected, example=example)
    try:
        value = float(entry.value)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise entry.wrong("a finite number", example=example)
    return value


def choice(entry: Entry, allowed: tuple[str, ...]) -> str:
    """One of a few words."""
    if entry.value not in allowed:
        told = f"{entry.label} is {shown(entry.value)}, expected one of {', '.join(allowed)}."
        raise entry.error(told)
    return str(entry.value)


def _unknown(entry: Entry) -> UsageError:
    """A key that is not ours, with the ones that may stand there."""
    *above, name = (part for part in entry.key if isinstance(part, str))
    home = above[0] if above else ""
    contract = entry.source.contract
    allowed = sorted(contract.keys[home])
    homes = [place for place, keys in contract.keys.items() if name in keys]
    close = difflib.get_close_matches(name[:40], allowed, n=1, cutoff=0.5)
    if homes:
        hint = f"It belongs {_place(contract, homes[0])}."
    elif close:
        hint = f"Did you mean {close[0]}?"
    else:
        hint = ""
    told = f"{entry.label} is not a key of this file."
    places = f"Allowed {_place(contract, home)}: {', '.join(allowed)}."
    return entry.error(told, hint=f"{places} {hint}".strip())


def _place(contract: Contract, home: str) -> str:
    if not home:
        return "at the top"
    return f"in [[{home}]]" if home in contract.repeated else f"in [{home}]"
