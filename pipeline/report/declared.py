"""What a report is made of, as declared.toml says: its sections, tables and figures."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..files import read_queries
from .figures import Row

RELATION = re.compile(r"\b(?:from|join) ((?:staging|main|report)\.\w+)")
# Words of a query whose rows are not all of its relation.
PART = re.compile(r"\b(?:where|join|qualify)\b")
HERE = Path(__file__)
QUERIES = read_queries("report/tables")


@dataclass(frozen=True)
class Section:
    """A heading of the report with what is below it; its template and command line use `name`."""

    name: str
    title: str
    purpose: str = ""


@dataclass(frozen=True)
class Table:
    """Rows for a page: what they are about, how they are cited, and where their columns go."""

    name: str
    relation: str
    key: tuple[str, ...]
    of: str = ""
    # The table whose rows these are, where its column of this name is true.
    within: str = ""
    # Its place on the HTML page.
    section: str = ""
    title: str = ""
    columns: tuple[str, ...] = ()
    # Columns of metrics.json, in groups where other keys are between them; and other names there.
    sidecar: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    called: Mapping[str, str] = field(default_factory=dict)
    also_called: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def select(self) -> str:
        schema = "" if "." in self.relation else "main."
        plain = f"from {schema}{self.relation} order by {', '.join(self.key)}"
        return QUERIES.get(self.name, plain)

    @property
    def reads(self) -> list[str]:
        return RELATION.findall(self.select)

    @property
    def is_whole(self) -> bool:
        """Whether it has every row of its relation."""
        is_own = re.search(rf"\bfrom (?:main\.)?{re.escape(self.relation)}\b", self.select)
        return bool(is_own) and not self.within and not PART.search(self.select)

    def row(self, values: Mapping[str, Any]) -> Row:
        return Row(self.relation, self.key, values)


@dataclass(frozen=True)
class Metric:
    """A figure by its column: how it is called and printed, and what it is."""

    definition: str
    words: str
    format: str
    better: str = ""


def _metric(name: str, entry: dict[str, str]) -> Metric:
    usual = {"words": plain_words(name), "format": "count" if name.startswith("n_") else "num"}
    return Metric(**(usual | entry))


def plain_words(column: str) -> str:
    """What a column is called where nothing else is declared: `n_tasks` is tasks."""
    return column.removeprefix("n_").removesuffix("_id").replace("_", " ")


def _table(name: str, entry: dict[str, Any]) -> Table:
    columns = {each: tuple(entry[each].split()) for each in ("key", "columns") if each in entry}
    groups = entry.get("sidecar", {})
    groups = {"": groups} if isinstance(groups, str) else groups
    sidecar = {group: tuple(listed.split()) for group, listed in groups.items()}
    return Table(name, **(entry | columns | {"sidecar": sidecar}))


_DECLARED = tomllib.loads(HERE.with_suffix(".toml").read_text(encoding="utf-8"))
SECTIONS = {name: Section(name, **entry) for name, entry in _DECLARED["section"].items()}
# Of several benchmarks: each has a report of its own.
OVERVIEW = Section("overview", "Overview")
TABLES = {name: _table(name, entry) for name, entry in _DECLARED["table"].items()}
METRICS = {name: _metric(name, entry) for name, entry in _DECLARED["figure"].items()}
# Tables that are read whole; the others only as far as a page shows them.
EVERY = {name: table for name, table in TABLES.items() if table.of != "page"}
OF_RUNS = tuple(table for table in EVERY.values() if table.of == "run")
OF_PAIRS = tuple(table for table in EVERY.values() if table.of == "pair")
# What keys of metrics.json are that are no columns.
SIDECAR: Mapping[str, str] = _DECLARED["sidecar"]
