"""Any question in SQL, within a time: its rows by column name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, count, islice
from typing import Any, TypeVar

import duckdb

from pipeline import timed
from pipeline.answers.names import Row
from pipeline.errors import UsageError, resolved
from pipeline.text import parsed
from pipeline.warehouse import Warehouse

FETCHED = 1000
Answer = TypeVar("Answer")
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


def schema_query(warehouse: Warehouse, name: str | None) -> str:
    """The query of all relations and their columns, or of the relation meant by a name."""
    if name is None:
        return SCHEMA_QUERY
    known = warehouse.column(f"select distinct relation from ({SCHEMA_QUERY}) order by all")
    found = resolved("relation", name, known).replace("'", "''")
    return f"from ({SCHEMA_QUERY}) where relation = '{found}'"


def in_time(warehouse: Warehouse, answer: Callable[[], Answer], timeout: float) -> Answer:
    """What a query gives, unless it takes too long."""
    try:
        with warehouse.explained():
            return timed.in_time(answer, timeout, interrupt=warehouse.interrupt)
    except TimeoutError as error:
        raise UsageError(
            f"the query took longer than {timeout:g} s and was ended.",
            hint="Ask for less, or give it more time with: blade sql --timeout SECONDS",
        ) from error


def fetched(result: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    """The rows of a result, many at a time."""
    return chain.from_iterable(iter(lambda: result.fetchmany(FETCHED), []))


def objects(result: duckdb.DuckDBPyConnection) -> Iterator[Row]:
    """The rows by column name; what a column of JSON holds is opened."""
    names = apart([column[0] for column in result.description or []])
    is_json = [str(column[1]) == "JSON" for column in result.description or []]
    for row in fetched(result):
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
    return warehouse.rows(schema_query(warehouse, name))


def first_rows(warehouse: Warehouse, query: str, most: int) -> tuple[list[Row], int | None]:
    """The first rows of a query, and how many it has in all; unknown where it cannot be counted."""
    found = list(islice(objects(warehouse.execute(query)), most + 1))
    if len(found) <= most:
        return found, len(found)
    try:
        text = query.strip().removesuffix(";")
        (n_rows,) = warehouse.column(f"select count(*) from ({text}\n)")
    except UsageError:
        n_rows = None
    return found[:most], n_rows
