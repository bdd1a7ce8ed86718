"""Relations of `report` as rows, each with the relation and key that its figures are cited by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pipeline.report.figures import Row


class Source(Protocol):
    """Whatever answers a query: the warehouse being built, or one opened again."""

    def execute(self, query: str, parameters: list[Any] | None = None, /) -> Any:
        """Run a query and leave its rows to be fetched."""


@dataclass(frozen=True)
class Table:
    """A relation of `report`, and the relation and key that its figures are cited by."""

    name: str
    relation: str
    key: tuple[str, ...]


def rows(source: Source, table: Table) -> list[Row]:
    """All rows, in the order that the relation gives them."""
    return _fetched(source.execute(f"select * from report.{table.name}"), table)


def rows_of(source: Source, table: Table, keys: Sequence[tuple[Any, ...]]) -> list[Row]:
    """The rows of these keys alone, in that order too."""
    chosen = ", ".join(f"unnest(?) as {name}" for name in table.key)
    query = f"from report.{table.name} semi join (select {chosen}) using ({', '.join(table.key)})"
    return _fetched(
        source.execute(query, [list(column) for column in zip(*keys, strict=True)]), table
    )


def _fetched(result: Any, table: Table) -> list[Row]:
    names = [column[0] for column in result.description]
    return [
        Row(table.relation, table.key, dict(zip(names, values, strict=True)))
        for values in result.fetchall()
    ]
