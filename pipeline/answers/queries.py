"""Any question in SQL, within limits of time and memory: its rows by column name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.answers.names import Row
from pipeline.errors import resolved
from pipeline.query_worker import MOST_BYTES, Answer, Bounds, ask
from pipeline.text import parsed

if TYPE_CHECKING:
    from pipeline.warehouse import Warehouse

SCHEMA_QUERY = """
    select
        table_name as relation,
        coalesce(described.comment, '') as description,
        column_name as column,
        data_type as type
    from duckdb_columns()
    left join (
        select database_name, schema_name, table_name, comment from duckdb_tables()
        union all
        select database_name, schema_name, view_name, comment from duckdb_views()
    ) as described using (database_name, schema_name, table_name)
    where schema_name = 'main' and database_name = current_database()
    order by relation, column_index
"""


RELATIONS_QUERY = f"select distinct relation from ({SCHEMA_QUERY}) order by all"


def schema_query(relations: Sequence[str], name: str) -> str:
    """The query of the columns of the relation meant by a name."""
    relation = resolved("relation", name, relations).replace("'", "''")
    return f"from ({SCHEMA_QUERY}) where relation = '{relation}'"


def objects(answer: Answer) -> Iterator[Row]:
    """The rows by column name; what a column of JSON holds is opened."""
    names = apart(answer.names)
    is_json = [kind == "JSON" for kind in answer.types]
    for row in answer:
        yield {
            name: parsed(value) if nested and value is not None else value
            for name, nested, value in zip(names, is_json, row, strict=True)
        }


def apart(names: list[str]) -> list[str]:
    """Names that are there twice get a number, so that no column is lost in an object."""
    found: dict[str, None] = {}
    for name in names:
        free = name
        for number in count(2):
            if free not in found and (free == name or free not in names):
                break
            free = f"{name}_{number}"
        found[free] = None
    return list(found)


def schema(warehouse: Warehouse, name: str | None) -> list[Row]:
    """All relations and their columns, or those of one."""
    if name is None:
        return warehouse.rows(SCHEMA_QUERY)
    return warehouse.rows(schema_query(warehouse.column(RELATIONS_QUERY), name))


def first_rows(
    path: Path, query: str, most: int, *, seconds: float, memory_limit: str | None
) -> tuple[list[Row], int | None]:
    """The first rows of a query, and how many it has in all; unknown where it cannot be counted."""
    bounds = Bounds(most_rows=most, most_bytes=MOST_BYTES, is_counted=True)
    with ask(path, query, seconds=seconds, memory_limit=memory_limit, bounds=bounds) as answer:
        return list(objects(answer)), answer.n_rows
