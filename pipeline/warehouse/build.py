"""A new warehouse file, written beside the old one and renamed over it when it is whole."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from pipeline.errors import InputError, UsageError

SCHEMAS = ("raw", "staging", "report", "checks")
# Small row groups keep the load's memory small: each thread holds one of every column.
ROW_GROUP_SIZE = 16384


@contextmanager
def build(
    path: Path, *, memory_limit: str, threads: int | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to an empty warehouse; on leaving without an error it replaces `path`."""
    building = path.with_name(f".{path.name}.building")
    spill = path.with_name(f".{path.name}.spill")
    _make_room(path.parent, building)
    db = duckdb.connect(":memory:", config=_config(memory_limit, threads, spill))
    try:
        _attach(db, building)
        for schema in SCHEMAS:
            db.execute(f"create schema {schema}")
        yield db
        db.execute("use memory; detach warehouse")
        db.close()
        building.replace(path)
    finally:
        db.close()
        for leftover in (building, building.with_name(f"{building.name}.wal")):
            leftover.unlink(missing_ok=True)
        shutil.rmtree(spill, ignore_errors=True)


def _make_room(folder: Path, building: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        building.touch()
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be written ({os.strerror(error.errno or 0)}).",
            hint="Choose another folder with --out.",
        ) from error


def _config(memory_limit: str, threads: int | None, spill: Path) -> dict[str, Any]:
    config = {
        "memory_limit": memory_limit,
        "temp_directory": str(spill),
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
    }
    return config if threads is None else {**config, "threads": threads}


def _attach(db: duckdb.DuckDBPyConnection, building: Path) -> None:
    quoted = str(building).replace("'", "''")
    try:
        # What an interrupted build left behind is of no use; one that is locked is in use.
        with duckdb.connect(str(building)) if building.stat().st_size else _nothing():
            pass
    except duckdb.IOException as error:
        if "lock" in str(error).lower():
            raise UsageError(
                f"{building.parent}: another analysis is writing here.",
                hint="Wait for it to finish, or choose another folder with --out.",
            ) from error
    except duckdb.Error:
        pass  # half a file: it is replaced below
    for leftover in (building, building.with_name(f"{building.name}.wal")):
        leftover.unlink(missing_ok=True)
    db.execute(f"attach '{quoted}' as warehouse (row_group_size {ROW_GROUP_SIZE}); use warehouse")


@contextmanager
def _nothing() -> Iterator[None]:
    yield
