"""Relations of `report` as rows, each with the relation and key that its figures are cited by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from pipeline.report.figures import Row


class Source(Protocol):
    """Whatever answers a query: the warehouse being built, or one opened again."""

    def execute(self, query: str, /) -> Any:
        """Run a query and leave its rows to be fetched."""


@dataclass(frozen=True)
class Table:
    """A relation of `report`, and the relation and key that its figures are cited by."""

    name: str
    relation: str
    key: tuple[str, ...]


def rows(source: Source, table: Table) -> list[Row]:
    """All rows, in the order that the relation gives them."""
    result = source.execute(f"select * from report.{table.name}")
    names = [column[0] for column in result.description]
    return [
        Row(table.relation, table.key, dict(zip(names, values, strict=True)))
        for values in result.fetchall()
    ]
