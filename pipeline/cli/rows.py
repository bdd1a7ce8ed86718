"""The rows of a query in the format asked for."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, TextIO

import duckdb

from pipeline.cli.tables import cell_text, markdown_table, print_table
from pipeline.errors import InputError
from pipeline.text import json_text, neutral, parsed
from pipeline.warehouse import Warehouse

FETCHED = 1000
MOST_TABLE_ROWS = 1000

SCHEMA_QUERY = """
    select
        tables.table_name as relation,
        coalesce(described.comment, '') as description,
        columns.column_name as column,
        columns.data_type as type
    from information_schema.tables as tables
    inner join information_schema.columns as columns using (table_catalog, table_schema, table_name)
    left join (
        select table_name, comment from duckdb_tables()
        where schema_name = 'main' and database_name = current_database()
        union all
        select view_name, comment from duckdb_views()
        where schema_name = 'main' and database_name = current_database()
    ) as described using (table_name)
    where table_schema = 'main' and tables.table_catalog = current_database()
    order by relation, columns.ordinal_position
"""


def write(warehouse: Warehouse, query: str, format_: str, out: Path | None) -> None:
    """Run the query; print its rows, or write them to a file, whole or not at all."""
    if out is None:
        _interruptibly(warehouse, lambda: _print(warehouse.execute(query), format_, sys.stdout))
        return
    beside = out.with_name(f".{out.name}.writing")
    try:
        _interruptibly(warehouse, lambda: _write(warehouse, query, format_, beside))
        beside.replace(out)
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({error.strerror}).") from error
    finally:
        beside.unlink(missing_ok=True)


def _interruptibly(warehouse: Warehouse, answer: Callable[[], None]) -> None:
    """Answer on another thread: a query that runs on the main one may never see Ctrl-C."""
    with warehouse.explained(), ThreadPoolExecutor(max_workers=1) as pool:
        running = pool.submit(answer)
        try:
            while not running.done():
                wait([running], timeout=1)
        except KeyboardInterrupt:
            warehouse.interrupt()
            wait([running])
            raise
        running.result()


def _write(warehouse: Warehouse, query: str, format_: str, path: Path) -> None:
    if format_ == "parquet":
        import pyarrow.parquet

        pyarrow.parquet.write_table(warehouse.arrow(query), path)
        return
    result = warehouse.execute(query)
    with path.open("w", encoding="utf-8", newline="") as file:
        _print(result, format_, file)


def print_schema(warehouse: Warehouse, format_: str, out: Path | None = None) -> None:
    """Every public relation with its purpose and its columns."""
    if format_ != "table" or out is not None:
        write(warehouse, SCHEMA_QUERY, format_, out)
        return
    shown = None
    for relation, description, column, type_ in warehouse.execute(SCHEMA_QUERY).fetchall():
        if relation != shown:
            print(f"{'' if shown is None else chr(10)}{relation}  {description}")
            shown = relation
        print(f"    {column:<20} {type_.lower()}")


def _print(result: duckdb.DuckDBPyConnection, format_: str, file: TextIO) -> None:
    names = [column[0] for column in result.description or []]
    is_json = [str(column[1]) == "JSON" for column in result.description or []]
    if format_ == "table":
        _print_table(names, result, file)
    elif format_ == "markdown":
        file.write(markdown_table(names, _rows(result)))
    elif format_ == "csv":
        safe = neutral if file.isatty() else str
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([safe(name) for name in names])
        writer.writerows([safe(_csv_text(value)) for value in row] for row in _rows(result))
    else:
        _print_json(_objects(names, is_json, result), format_, file)


def _print_table(names: list[str], result: duckdb.DuckDBPyConnection, file: TextIO) -> None:
    rows = result.fetchmany(MOST_TABLE_ROWS + 1)
    print_table(names, rows[:MOST_TABLE_ROWS], file=file)
    if len(rows) > MOST_TABLE_ROWS:
        print(f"the first {MOST_TABLE_ROWS} rows; --format csv prints all", file=sys.stderr)


def _print_json(objects: Iterator[dict[str, Any]], format_: str, file: TextIO) -> None:
    if format_ == "jsonl":
        for row in objects:
            file.write(json_text(row) + "\n")
        return
    file.write("[")
    for number, row in enumerate(objects):
        file.write((",\n" if number else "\n") + json_text(row))
    file.write("\n]\n")


def _rows(result: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while rows := result.fetchmany(FETCHED):
        yield from rows


def _objects(
    names: list[str], is_json: list[bool], result: duckdb.DuckDBPyConnection
) -> Iterator[dict[str, Any]]:
    for row in _rows(result):
        yield {
            name: parsed(value) if nested and value is not None else value
            for name, nested, value in zip(names, is_json, row, strict=True)
        }


def _csv_text(value: Any) -> str:
    return repr(value) if isinstance(value, float) else cell_text(value)
