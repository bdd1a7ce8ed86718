"""The caches and the memory of an analysis: what is reused, and how much a step may take."""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import duckdb

from . import earlier, outputs, warehouse
from .artifact import Artifact
from .earlier import Inputs
from .errors import InputError, address_space_limit, memory_error
from .profile import Profile
from .settings import WAREHOUSE_NAME, Settings
from .user_cache import Parts

T = TypeVar("T")
Read = Callable[[int, int], None]

SMALL_BYTES = 16 << 20
FEW_ROWS_BYTES = 4 << 20
# Cached blocks are dropped from memory each time that this much has been read.
DROP_AFTER_BYTES = 128 << 20
# More relations wait for each other: beyond this many threads, little is gained.
MOST_AT_ONCE = 4
# In DuckDB 2.0.0 a join that spills between two others loses a dictionary of the first that the
# last relies on; the error ends the database.
LOST_DICTIONARY = "dict-surviving join"


def inputs(
    artifacts: Sequence[Artifact],
    chosen: Profile,
    settings: Settings,
    *,
    wanted: Sequence[str],
    has_pages: bool,
) -> Inputs | None:
    """What the output depends on; None if it may not be reused."""
    if wanted or not settings.use_cache:
        return None
    return earlier.inputs(artifacts, chosen, settings, has_pages=has_pages)


def is_current(inputs: Inputs | None, settings: Settings) -> bool:
    """Whether the output is what an analysis would write now."""
    return inputs is not None and earlier.is_current(
        settings.out, inputs, by_content=settings.by_content
    )


def parts(settings: Settings) -> Parts | None:
    """The parts of large files that this program has read before; None if they are not reused."""
    return Parts(json.dumps(earlier.program())) if settings.use_cache else None


@contextmanager
def new_output(
    artifacts: Sequence[Artifact],
    inputs: Inputs | None,
    settings: Settings,
    note: Callable[[str], None],
) -> Iterator[tuple[Path, duckdb.DuckDBPyConnection]]:
    """A folder for new files with a new warehouse; on success they are moved into place.

    If the output may be reused, it is recorded what it depends on.
    """
    n_bytes = _n_bytes(artifacts)
    is_small = n_bytes < SMALL_BYTES
    with outputs.replaced(settings.out, note=note) as folder:
        path = folder / WAREHOUSE_NAME
        with warehouse.build(
            path,
            memory_limit=settings.memory_limit,
            # For small files, passing rows between threads takes longer than processing them.
            threads=settings.threads or (1 if is_small else None),
            is_small=is_small,
            # A second try after memory ran out has one thread, and all optimizers.
            has_few_rows=n_bytes < FEW_ROWS_BYTES and settings.threads is None,
        ) as db:
            yield folder, db
            hashes = db.execute("select sha256 from raw.files order by file_no").fetchall()
        if inputs and not inputs.has_pages:
            warehouse.store_views(path)
        new_files = earlier.written(folder)
    if inputs:
        earlier.remember(settings.out, inputs, new_files, [sha256 for (sha256,) in hashes])


def relations_at_once(artifacts: Sequence[Artifact], settings: Settings) -> int:
    """How many relations are created at the same time.

    Small ones take long to plan, which one thread does; large ones use all threads and the memory.
    """
    if settings.threads is not None or _n_bytes(artifacts) >= SMALL_BYTES:
        return 1
    return min(os.cpu_count() or 1, MOST_AT_ONCE)


def _n_bytes(artifacts: Sequence[Artifact]) -> int:
    return sum(artifact.n_bytes for artifact in artifacts)


def without_spilling(settings: Settings, build: Callable[[Settings], T]) -> T:
    """Run `build`; if a join fails because another spills, retry with more memory."""
    try:
        return build(settings)
    except duckdb.InternalException as error:
        if LOST_DICTIONARY not in str(error):
            raise
        limit = settings.memory_limit or warehouse.half_of_memory()
        if not _may_grow(settings):
            raise InputError(
                f"a join does not fit in {limit} of memory, and DuckDB {duckdb.__version__} "
                "fails where it spills.",
                hint="Allow more memory, for example with: --memory-limit 8GB",
            ) from error
    # The database has ended with the error, and what was read is lost with it.
    return without_spilling(replace(settings, relations_memory=limit), build)


def _may_grow(settings: Settings) -> bool:
    """Whether relations may get more memory than they have at first."""
    limit = settings.memory_limit or warehouse.half_of_memory()
    return warehouse.size_in_bytes(settings.relations_memory) < warehouse.size_in_bytes(limit)


def with_fewer_threads(settings: Settings, build: Callable[[Settings], T]) -> T:
    """Run `build`; if memory runs out because of very long rows, retry with one thread."""
    try:
        return build(settings)
    except duckdb.OutOfMemoryException:
        # Reading a row takes many times its length, which is unknown before.
        single_threaded = replace(settings, threads=1)
    try:
        return build(single_threaded)
    except duckdb.OutOfMemoryException as error:
        if address_space_limit() is not None:
            raise memory_error(is_refused=True) from error
        limit = settings.memory_limit or warehouse.half_of_memory()
        raise InputError(
            f"a row is too long to be read in {limit} of memory.",
            hint="Leave such rows out, for example with: --max-line-bytes 1000000",
        ) from error


def lower_memory_limit(db: duckdb.DuckDBPyConnection, settings: Settings) -> None:
    """After reading: relations and pages need little memory, and cached blocks would fill more."""
    if _may_grow(settings):
        db.execute(f"set memory_limit = '{settings.relations_memory}'")


def with_more_memory(db: duckdb.DuckDBPyConnection, settings: Settings, work: Callable[[], T]) -> T:
    """Run `work`; if memory runs out, retry with all of the limit, which others do not get."""
    try:
        return work()
    except duckdb.OutOfMemoryException:
        if not _may_grow(settings):
            raise
    limit = settings.memory_limit or warehouse.half_of_memory()
    db.execute(f"set memory_limit = '{limit}'")
    try:
        return work()
    finally:
        with suppress(duckdb.OutOfMemoryException):  # what is in use stays
            lower_memory_limit(db, settings)


def dropping_blocks(db: duckdb.DuckDBPyConnection, settings: Settings, read: Read) -> Read:
    """Wrap `read` so that cached blocks are dropped from memory from time to time."""
    cursor = db.cursor()
    n_undropped = 0

    def count(n_read: int, n_all: int) -> None:
        nonlocal n_undropped
        read(n_read, n_all)
        n_undropped += n_read
        if n_undropped > DROP_AFTER_BYTES:
            n_undropped = 0
            warehouse.drop_cached_blocks(cursor, settings.memory_limit)

    return count


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Rows and pages have no reference cycles; looking for them takes a tenth of the time."""
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()
