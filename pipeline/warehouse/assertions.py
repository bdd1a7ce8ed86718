"""The assertions: what must not happen, and what a reader should know."""

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
    """Raise where `assertions.fail` has rows; return the rows of `assertions.warn` in order."""
    query = "select check_name, subject, message, hint from assertions.{} order by all"
    broken = db.execute(query.format("fail")).fetchall()
    if broken:
        check, subject, message, _ = broken[0]
        raise BladeError(
            f"{subject}: {message} ({check}, {len(broken)} rows). This is a bug in blade.",
            hint="Please report it with the file; the previous output is untouched.",
        )
    return [Notice(*row) for row in db.execute(query.format("warn")).fetchall()]
