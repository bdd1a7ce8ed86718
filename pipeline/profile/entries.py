"""How any value of a profile is read: tables of known keys, texts, numbers; else a complaint."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pipeline.errors import UsageError
from pipeline.profile.source import Entry, shown

# A reader takes an entry and returns the attributes that it settles.
Reader = Callable[[Entry], dict[str, Any]]

# What may stand where; tables that come several times are written in double brackets.
KEYS: Mapping[str, frozenset[str]] = {
    table: frozenset(keys.split())
    for table, keys in {
        "": "benchmark pass_threshold slices fields expected funnel failure_mode",
        "fields": "task_id reward answer group",
        "expected": "tasks repeats",
        "funnel": "stage when",
        "failure_mode": "mode title when cause severity intervention evidence signal",
    }.items()
}
REPEATED = frozenset({"funnel", "failure_mode"})


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
    allowed = sorted(KEYS[home])
    homes = [place for place, keys in KEYS.items() if name in keys]
    close = difflib.get_close_matches(name[:40], allowed, n=1, cutoff=0.5)
    if homes:
        hint = f"It belongs {_place(homes[0])}."
    elif close:
        hint = f"Did you mean {close[0]}?"
    else:
        hint = ""
    told = f"{entry.label} is not a key of this file."
    return entry.error(told, hint=f"Allowed {_place(home)}: {', '.join(allowed)}. {hint}".strip())


def _place(home: str) -> str:
    if not home:
        return "at the top"
    return f"in [[{home}]]" if home in REPEATED else f"in [{home}]"
