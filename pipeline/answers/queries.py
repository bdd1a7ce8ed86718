"""Run any SQL query within limits of time and memory; rows as dicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import resolved
from ..files import read_queries
from ..query_worker import MOST_BYTES, Answer, Bounds, ask
from ..text import parsed
from .names import Row

if TYPE_CHECKING:
    from ..warehouse import Warehouse


SCHEMA_QUERY = read_queries("answers/queries")["schema"]
RELATIONS_QUERY = f"select distinct relation from ({SCHEMA_QUERY}) order by all"


def schema_query(relations: Sequence[str], name: str) -> str:
    """A query for the columns of the relation of a name or a part of it."""
    relation = resolved("relation", name, relations).replace("'", "''")
    return f"from ({SCHEMA_QUERY}) where relation = '{relation}'"


def objects(answer: Answer) -> Iterator[Row]:
    """The rows as dicts; JSON columns are parsed."""
    names = unique_names(answer.names)
    is_json = [kind == "JSON" for kind in answer.types]
    for row in answer:
        yield {
            name: parsed(value) if nested and value is not None else value
            for name, nested, value in zip(names, is_json, row, strict=True)
        }


def unique_names(names: list[str]) -> list[str]:
    """Number repeated names, so that no column is lost in a dict."""
    unique: dict[str, None] = {}
    for name in names:
        free = name
        for number in count(2):
            if free not in unique and (free == name or free not in names):
                break
            free = f"{name}_{number}"
        unique[free] = None
    return list(unique)


def schema(warehouse: Warehouse, name: str | None) -> list[Row]:
    if name is None:
        return warehouse.rows(SCHEMA_QUERY)
    return warehouse.rows(schema_query(warehouse.column(RELATIONS_QUERY), name))


def first_rows(
    path: Path, query: str, most: int, *, seconds: float, memory_limit: str | None
) -> tuple[list[Row], int | None]:
    """The first rows of a query, and the number of all; None if they cannot be counted."""
    bounds = Bounds(most_rows=most, most_bytes=MOST_BYTES, is_counted=True)
    with ask(path, query, seconds=seconds, memory_limit=memory_limit, bounds=bounds) as answer:
        return list(objects(answer)), answer.n_rows
