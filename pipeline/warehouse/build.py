"""A new warehouse file, written beside the old one and renamed over it when it is whole."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb

from pipeline.errors import InputError, UsageError
from pipeline.warehouse.reader import half_of_memory

SCHEMAS = ("raw", "staging", "report", "assertions")
# Small row groups keep the load's memory small: each thread holds one of every column.
ROW_GROUP_SIZE = 16384
# A column takes a block at least; a long text is written fastest in large ones.
SMALL_BLOCK, LARGE_BLOCK = 16 << 10, 256 << 10
# What of the file stays in memory while rows are read: the limit is for long rows.
KEPT = "600MB"


@contextmanager
def build(
    path: Path,
    *,
    memory_limit: str | None = None,
    threads: int | None = None,
    is_small: bool = True,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to an empty warehouse; on leaving without an error it replaces `path`."""
    building, _, spill = _beside(path)
    with _alone(path.parent):
        _clear(path)
        try:
            config = _config(memory_limit or half_of_memory(), threads, spill)
            yield from _built(path, building, config, is_small=is_small)
        finally:
            _clear(path)


def leftovers(path: Path) -> list[str]:
    """What a build that was killed left beside `path`; the next one removes it."""
    return [beside.name for beside in _beside(path) if beside.exists()]


def let_go(db: duckdb.DuckDBPyConnection, memory_limit: str | None = None) -> None:
    """Drop cached blocks: they lie in the file, and a large one would fill the memory."""
    with suppress(duckdb.OutOfMemoryException):  # what is in use stays
        db.execute(f"set memory_limit = '{KEPT}'")
    db.execute(f"set memory_limit = '{memory_limit or half_of_memory()}'")


def _built(
    path: Path, building: Path, config: dict[str, Any], *, is_small: bool
) -> Iterator[duckdb.DuckDBPyConnection]:
    db = duckdb.connect(":memory:", config=config)
    try:
        quoted = str(building).replace("'", "''")
        # A build that is killed starts over: there is nothing to recover from a log.
        db.execute(
            f"attach '{quoted}' as warehouse (row_group_size {ROW_GROUP_SIZE}, "
            f"block_size {SMALL_BLOCK if is_small else LARGE_BLOCK}, recovery_mode no_wal_writes)"
        )
        db.execute("use warehouse")
        # It would draw on stdout, which is for the answer.
        db.execute("set enable_progress_bar = false")
        for schema in SCHEMAS:
            db.execute(f"create schema {schema}")
        yield db
        db.execute("use memory; detach warehouse")
        db.close()
        building.replace(path)
    finally:
        db.close()


def _beside(path: Path) -> tuple[Path, Path, Path]:
    """The new file, its log, and the folder for what does not fit into memory."""
    building = path.with_name(f".{path.name}.building")
    log = building.with_name(f"{building.name}.wal")
    return building, log, path.with_name(f".{path.name}.spill")


def _clear(path: Path) -> None:
    """Remove what a build leaves behind when it fails, or left when it was killed."""
    building, log, spill = _beside(path)
    building.unlink(missing_ok=True)
    log.unlink(missing_ok=True)
    shutil.rmtree(spill, ignore_errors=True)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the output folder; the system lets go of it even when we are killed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            held = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be written ({os.strerror(error.errno or 0)}).",
            hint="Choose another folder with --out.",
        ) from error
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UsageError(
            f"{folder}: another analysis is writing here.",
            hint="Wait for it to finish, or choose another folder with --out.",
        ) from error
    else:
        yield
    finally:
        os.close(held)


def _config(memory_limit: str, threads: int | None, spill: Path) -> dict[str, Any]:
    config = {
        "memory_limit": memory_limit,
        "write_buffer_row_group_count": 1,
        "temp_directory": str(spill),
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
        # It fails on comparisons with what comes of a column that holds only nulls.
        "disabled_optimizers": "statistics_propagation",
    }
    return config if threads is None else {**config, "threads": threads}
