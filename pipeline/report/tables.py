"""The tables of a report: what each reads, in which order, and how its figures are cited."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pipeline.report.figures import Row

RELATION = re.compile(r"\b(?:from|join) ((?:staging|main|report)\.\w+)")


class Source(Protocol):
    """Whatever answers a query: the warehouse being built, or one opened again."""

    def execute(self, query: str, parameters: list[Any] | None = None, /) -> Any:
        """Run a query and leave its rows to be fetched."""


@dataclass(frozen=True)
class Table:
    """Rows for a page, as tables.toml declares them."""

    name: str
    relation: str
    key: tuple[str, ...]
    order: str
    query: str = ""
    where: str = ""
    of: str = ""
    # The table that these are rows of; and the conditions of those that are of this one, by name.
    within: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)

    @property
    def select(self) -> str:
        """The query that gives its rows in order."""
        shown = ", ".join(["*", *(f"{where} as {name}" for name, where in self.parts.items())])
        schema = "" if "." in self.relation else "main."
        plain = f"select {shown} from {schema}{self.relation}"
        plain += f" where {self.where}" if self.where else ""
        return f"{self.query or plain} order by {self.order}"

    @property
    def reads(self) -> list[str]:
        """The relations of ours that its rows come from."""
        return RELATION.findall(self.select)

    def row(self, values: Mapping[str, Any]) -> Row:
        """One of its rows."""
        return Row(self.relation, self.key, values)


def _declared() -> dict[str, Table]:
    found = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    for each in found.values():
        each["key"] = tuple(each["key"].split())
        each["order"] = " ".join(each["order"].split())
    for name, each in found.items():
        if "within" in each:
            found[each["within"]].setdefault("parts", {})[name] = each["where"]
    return {name: Table(name, **each) for name, each in found.items()}


DECLARED = _declared()
# Those that are read whole; the others only as far as a page shows them.
EVERY = {name: table for name, table in DECLARED.items() if table.of != "page"}
OF_RUNS = tuple(table for table in EVERY.values() if table.of == "run")
OF_PAIRS = tuple(table for table in EVERY.values() if table.of == "pair")
HEADLINES, HEALTH, FINDINGS = EVERY["headlines"], EVERY["health"], EVERY["findings"]


def read(source: Source, tables: Iterable[Table]) -> dict[str, list[Row]]:
    """The rows of tables by name; those that are part of another are asked for with it."""
    found: dict[str, list[Row]] = {}
    for table in tables:
        if table.within:
            own = (row.values for row in found[table.within] if row.values[table.name])
            found[table.name] = [table.row(values) for values in own]
        else:
            found[table.name] = rows(source, table)
    return found


def rows(source: Source, table: Table) -> list[Row]:
    """All rows, in the order that the table gives them."""
    return _fetched(source.execute(table.select), table)


def rows_of(source: Source, table: Table, keys: Sequence[tuple[Any, ...]]) -> list[Row]:
    """The rows of these keys, which the table's query reads as `wanted`."""
    if not keys:
        return []
    columns = ", ".join(f"unnest(${no}) as {name}" for no, name in enumerate(table.key, start=1))
    query = f"with wanted as (select {columns}) {table.select}"
    bound = [list(column) for column in zip(*keys, strict=True)]
    return _fetched(source.execute(query, bound), table)


def _fetched(result: Any, table: Table) -> list[Row]:
    names = [column[0] for column in result.description]
    return [table.row(dict(zip(names, values, strict=True))) for values in result.fetchall()]
