"""Rows made in Python -> a table, through Arrow."""

from __future__ import annotations

from typing import Any

import duckdb
import pyarrow as pa


def append(db: duckdb.DuckDBPyConnection, table: str, rows: list[tuple[Any, ...]]) -> None:
    """Insert rows by position; values are cast to the table's own types."""
    if not rows:
        return
    columns = {str(number): list(column) for number, column in enumerate(zip(*rows, strict=True))}
    db.register("appended", pa.table(columns))
    db.execute(f"insert into {table} from appended")
    db.unregister("appended")
