"""The checks of sql/checks: what must not happen, and what a reader should be told."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from pipeline.errors import BladeError
from pipeline.warehouse.reader import Warehouse


@dataclass(frozen=True)
class Notice:
    """Something to know of these results: what, in which run or file, and what to run next."""

    check: str
    subject: str
    message: str
    hint: str


def run_checks(db: duckdb.DuckDBPyConnection | Warehouse) -> list[Notice]:
    """Raise where a `fail_` check has rows; return the rows of the `warn_` checks in order."""
    names = [
        name
        for (name,) in db.execute("""
            select view_name from duckdb_views()
            where schema_name = 'checks' and database_name = current_database()
            order by view_name
        """).fetchall()
    ]
    warnings = []
    for name in names:
        rows = db.execute(
            f"select subject, message, hint from checks.{name} order by all"
        ).fetchall()
        if rows and name.startswith("fail_"):
            subject, message, _ = rows[0]
            raise BladeError(
                f"{subject}: {message} ({name}, {len(rows)} rows). This is a bug in blade.",
                hint="Please report it with the file; the previous output is untouched.",
            )
        warnings += [Notice(name, *row) for row in rows]
    return warnings
