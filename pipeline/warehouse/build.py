"""A new warehouse file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb

from ..errors import InputError
from .reader import half_of_memory, quoted, set_output

TEXTS = ("events", "rollouts", "tasks", "task_prompts")
VIEWS = """
    select schema_name, view_name
    from duckdb_views()
    where
        not internal
        and schema_name in ('main', 'report')
        and not list_contains(?, view_name)
    order by all
"""
SCHEMAS = ("raw", "staging", "report", "assertions")
# Small row groups need less memory: each thread buffers one of every column.
ROW_GROUP_SIZE = 16384
# A column takes at least one block; long texts are written fastest in large blocks.
SMALL_BLOCK = 16 << 10
LARGE_BLOCK = 256 << 10
# Cached blocks that may stay in memory while rows are read; the rest is for long rows.
CACHE_WHILE_LOADING = "256MB"
# This optimizer fails on comparisons with columns that contain only nulls.
FAULTY_OPTIMIZER = "statistics_propagation"
# With few rows, the other optimizers take longer than they save.
OPTIMIZERS_FOR_FEW_ROWS = ("cte_inlining", "column_lifetime", "filter_pushdown", "unused_columns")


@contextmanager
def build(
    path: Path,
    *,
    memory_limit: str | None = None,
    threads: int | None = None,
    is_small: bool = True,
    has_few_rows: bool = False,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to a new warehouse at `path`, which is complete on leaving without an error."""
    config: dict[str, Any] = {
        "memory_limit": memory_limit or half_of_memory(),
        "write_buffer_row_group_count": 1,
        "temp_directory": str(path.parent.with_name("spill")),
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
        "disabled_optimizers": FAULTY_OPTIMIZER,
        **({} if threads is None else {"threads": threads}),
    }
    db = duckdb.connect(":memory:", config=config)
    try:
        # A killed build starts over, so no log for recovery is needed.
        db.execute(
            f"attach {quoted(path)} as warehouse (row_group_size {ROW_GROUP_SIZE}, "
            f"block_size {SMALL_BLOCK if is_small else LARGE_BLOCK}, recovery_mode no_wal_writes)"
        )
        db.execute("use warehouse")
        set_output(db, path.parent)
        # It would be drawn on stdout, which is for results.
        db.execute("set enable_progress_bar = false")
        if has_few_rows:
            _disable_most_optimizers(db)
        for schema in SCHEMAS:
            db.execute(f"create schema {schema}")
        yield db
        db.execute("use memory; detach warehouse")
    except duckdb.IOException as error:
        reason = " ".join(str(error).split())
        hint = "Free disk space there, or choose another place with --out or TMPDIR."
        message = f"{path.parent}: cannot be written ({reason})."
        raise InputError(message, hint=hint) from error
    finally:
        db.close()


def _disable_most_optimizers(db: duckdb.DuckDBPyConnection) -> None:
    names = {name for (name,) in db.execute("from duckdb_optimizers()").fetchall()}
    unneeded = sorted(names.difference(OPTIMIZERS_FOR_FEW_ROWS))
    db.execute(f"set disabled_optimizers = '{','.join(unneeded)}'")


def store_views(path: Path) -> None:
    """Turn views of figures into tables, for a warehouse that is queried often: planning is slow.

    Views of texts stay views, so that each text is stored once.
    """
    with duckdb.connect(str(path)) as db:
        db.execute("set enable_progress_bar = false")
        db.execute(f"set disabled_optimizers = '{FAULTY_OPTIMIZER}'")
        views = db.execute(VIEWS, [[*TEXTS]]).fetchall()
        for schema, name in views:
            db.execute(f"create table {schema}.stored as from {schema}.{name}")
            db.execute(f"drop view {schema}.{name}; alter table {schema}.stored rename to {name}")


def drop_cached_blocks(db: duckdb.DuckDBPyConnection, memory_limit: str | None = None) -> None:
    """Drop cached blocks from memory: those of a large file would fill it."""
    with suppress(duckdb.OutOfMemoryException):  # what is in use stays
        db.execute(f"set memory_limit = '{CACHE_WHILE_LOADING}'")
    db.execute(f"set memory_limit = '{memory_limit or half_of_memory()}'")
