"""Rows of the tables of a report, read from a warehouse."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from .declared import Table
from .figures import Row


class Source(Protocol):
    """Anything that answers a query: the warehouse being built, or one opened again."""

    def execute(self, query: str, parameters: list[Any] | None = None, /) -> Any:
        """Run a query and leave its rows to be fetched."""


def read(source: Source, tables: Iterable[Table]) -> dict[str, list[Row]]:
    """The rows of tables by name; those within another table are read with it."""
    read_rows: dict[str, list[Row]] = {}
    for table in tables:
        if table.within:
            own = (row.values for row in read_rows[table.within] if row.values[table.name])
            read_rows[table.name] = [table.row(values) for values in own]
        else:
            read_rows[table.name] = rows(source, table)
    return read_rows


def rows(source: Source, table: Table) -> list[Row]:
    """All rows, in the order that the table gives them."""
    return [table.row(values) for values in dicts(source, table.select)]


def rows_of(source: Source, table: Table, keys: Sequence[tuple[Any, ...]]) -> list[Row]:
    """The rows of these keys, which the table's query takes as lists, one per column."""
    if not keys:
        return []
    columns = [list(column) for column in zip(*keys, strict=True)]
    return [table.row(values) for values in dicts(source, table.select, columns)]


def dicts(source: Source, query: str, parameters: list[Any] | None = None) -> list[dict[str, Any]]:
    """The rows of a query by the names of its columns."""
    result = source.execute(query, parameters)
    names = [column[0] for column in result.description]
    return [dict(zip(names, values, strict=True)) for values in result.fetchall()]
