"""Figures that know where they came from: a value, and the relation, key and column behind it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote

MARK = re.compile(r"<!--blade:([^<>\s]+)-->")
# Behind a name or a text: how many characters before it are bound, and to what.
BOUND = re.compile(r"<!--blade-text:(?P<n>\d+):(?P<source>[^<>\s]+)-->")


class Figure(NamedTuple):
    """A number, or none, with its source: `run_metrics?run_id=base#pass_at_1`.

    A tuple, since pages of thousands of runs make a million of them.
    """

    value: int | float | None
    source: str

    def __bool__(self) -> bool:
        """What is undefined is nothing, also to a template that asks `if row.is_low`."""
        return self.value is not None

    @property
    def marker(self) -> str:
        """The source as a comment that no reader shows and that survives editing around it."""
        return f"<!--blade:{self.source}-->"


class Name(str):
    """A text of a row that knows its source, as a figure does."""

    __slots__ = ("source",)
    source: str

    def __new__(cls, text: str, source: str) -> Name:
        name = super().__new__(cls, text)
        name.source = source
        return name


def bound(printed: str, text: object) -> str:
    """What is printed of a text, with its source behind it where it has one."""
    source = text.source if isinstance(text, Name) else ""
    return f"{printed}<!--blade-text:{len(printed)}:{source}-->" if source else printed


@dataclass(frozen=True)
class Row:
    """A row of a relation: its numbers are figures, everything else is the value itself."""

    relation: str
    key: tuple[str, ...]
    values: Mapping[str, Any]

    def __getattr__(self, name: str) -> Any:
        try:
            value = self.values[name]
        except KeyError:
            raise AttributeError(f"{self.relation} has no {name}") from None
        if not self.place:
            return value
        if isinstance(value, str):
            value = Name(value, f"{self.place}#{name}")
        elif isinstance(value, list):
            value = [
                Name(each, f"{self.place}#{name}[{no}]") if isinstance(each, str) else each
                for no, each in enumerate(value, start=1)
            ]
        elif value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
            value = Figure(value, f"{self.place}#{name}")
        # The next look finds it without coming here.
        self.__dict__[name] = value
        return value

    def __getitem__(self, name: str) -> Any:
        """A column by its name, as filters of templates ask for it."""
        if name not in self.values:
            raise KeyError(name)  # Jinja then looks for an attribute, also in its sandbox
        return getattr(self, name)

    @cached_property
    def place(self) -> str:
        """The relation and key, percent-encoded: no value can end the comment around it.

        What is in no warehouse, such as a warning of this very call, has none.
        """
        if not set(self.key) <= self.values.keys():
            return ""
        pairs = "&".join(f"{name}={encoded(str(self.values[name]))}" for name in self.key)
        return f"{self.relation}?{pairs}"


def grouped(rows: Iterable[Row], *columns: str) -> dict[Any, list[Row]]:
    """Rows in their order by the value of a column, or by the values of several."""
    groups: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        key = tuple(row.values[name] for name in columns)
        groups[key if len(key) > 1 else key[0]].append(row)
    return groups


@lru_cache(maxsize=10_000)
def encoded(value: str) -> str:
    """Percent-encoded, so that no value ends the comment around it."""
    return quote(value, safe="").replace("--", "-%2D")
