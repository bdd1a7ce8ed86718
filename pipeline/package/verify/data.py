"""The relations of a warehouse, asked for what a report names: checked, quoted and bound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

CHUNK = 5_000


class Result(Protocol):
    """What a query gives."""

    @property
    def description(self) -> Any:
        """A tuple a column, its name first."""

    def fetchall(self) -> list[Any]:
        """All rows."""

    def fetchmany(self, size: int = ...) -> list[Any]:
        """Some rows."""


class Source(Protocol):
    """A warehouse that is open for reading."""

    def execute(self, query: str, parameters: list[Any] | None = None) -> Result:
        """Run a query, values bound."""


class Relations(Protocol):
    """Rows by relation: those of a warehouse, or those that a sidecar holds."""

    @property
    def columns(self) -> Mapping[str, Mapping[str, str]]:
        """The columns of each relation, with their types."""

    @property
    def is_partial(self) -> bool:
        """Whether a row that is not there may still be right."""

    def table(self, relation: str) -> list[dict[str, Any]]:
        """All rows of a relation, none where there is no such."""

    def looked_up(
        self,
        relation: str,
        names: Sequence[str],
        keys: Iterable[tuple[str, ...]],
        columns: Sequence[str],
    ) -> dict[tuple[str, ...], list[dict[str, Any]]]:
        """The rows with these keys, whose values are compared as text."""


@dataclass(frozen=True)
class Held:
    """Relations in memory, of which only some rows and columns are known."""

    tables: Mapping[str, list[dict[str, Any]]]
    is_partial: bool = True

    @cached_property
    def columns(self) -> Mapping[str, Mapping[str, str]]:
        """The columns that any row has."""
        return {
            relation: {name: "" for row in rows for name in row}
            for relation, rows in self.tables.items()
        }

    def table(self, relation: str) -> list[dict[str, Any]]:
        """All rows of a relation that are known."""
        columns = self.columns.get(relation, {})
        return [dict.fromkeys(columns) | row for row in self.tables.get(relation, [])]

    def looked_up(
        self,
        relation: str,
        names: Sequence[str],
        keys: Iterable[tuple[str, ...]],
        columns: Sequence[str],
    ) -> dict[tuple[str, ...], list[dict[str, Any]]]:
        """The rows with these keys."""
        wanted = set(keys)
        found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        for row in self.table(relation):
            key = tuple(str(row[name]) for name in names)
            if key in wanted:
                found.setdefault(key, []).append({name: row[name] for name in columns})
        return found


@dataclass(frozen=True)
class Data:
    """A warehouse, and which columns its relations have: `run_metrics`, `report.modes`."""

    source: Source
    columns: Mapping[str, Mapping[str, str]]
    is_partial: bool = False

    def rows(self, query: str, parameters: list[Any] | None = None) -> list[dict[str, Any]]:
        """The rows of a query of ours, by column."""
        result = self.source.execute(query, parameters)
        names = [column[0] for column in result.description]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def table(self, relation: str) -> list[dict[str, Any]]:
        """All rows of a relation, none where the warehouse has no such."""
        return self.rows(f"from {_quoted(relation)}") if relation in self.columns else []

    def looked_up(
        self,
        relation: str,
        names: Sequence[str],
        keys: Iterable[tuple[str, ...]],
        columns: Sequence[str],
    ) -> dict[tuple[str, ...], list[dict[str, Any]]]:
        """The rows of a relation with these keys, whose values are compared as text."""
        found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
        every = list(dict.fromkeys(keys))
        query = _query(relation, names, columns)
        for start in range(0, len(every), CHUNK):
            chunk = every[start : start + CHUNK]
            bound: list[Any] = [list(values) for values in zip(*chunk, strict=True)]
            for row in self.source.execute(query, bound).fetchall():
                key = tuple(row[: len(names)])
                values = dict(zip(columns, row[len(names) :], strict=True))
                found.setdefault(key, []).append(values)
        return found


def opened(source: Source) -> Data:
    """What a warehouse has to offer."""
    result = source.execute(
        "select table_schema, table_name, column_name, data_type from information_schema.columns "
        "where table_schema in ('main', 'report', 'raw') and table_catalog = current_database()"
    )
    columns: dict[str, dict[str, str]] = {}
    for schema, table, column, type_ in result.fetchall():
        relation = table if schema == "main" else f"{schema}.{table}"
        columns.setdefault(relation, {})[column] = type_
    return Data(source, columns)


def _query(relation: str, names: Sequence[str], columns: Sequence[str]) -> str:
    """Names have been found in the schema; none comes from a report unchecked."""
    keys = ", ".join(f"unnest(?::varchar[]) as k{place}" for place in range(len(names)))
    shown = ", ".join(f"asked.k{place}" for place in range(len(names)))
    wanted = ", ".join(f"found.{_name(column)}" for column in columns)
    matched = " and ".join(
        f"found.{_name(name)}::varchar = asked.k{place}" for place, name in enumerate(names)
    )
    return (
        f"with asked as (select {keys}) select {shown}, {wanted} from asked "
        f"inner join {_quoted(relation)} as found on {matched}"
    )


def _quoted(relation: str) -> str:
    schema, _, table = relation.rpartition(".")
    return f"{_name(schema or 'main')}.{_name(table)}"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
