"""Load row artifacts into raw.records and raw.events, in one stream over all files."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import duckdb
import pyarrow as pa

from ...artifact import Artifact
from ...relation import append
from ...settings import DEFAULT_MAX_LINE_BYTES
from ..formats import gym
from . import foreign, record_sql
from .lines import (
    LINE_BITS,
    LINES,
    SNIPPET_BYTES,
    WHOLE,
    FileTally,
    Span,
    batches,
    read_blocks,
)

NumberedFiles = list[tuple[int, Artifact]]
Read = Callable[[int, int], None]  # bytes just read, bytes in all
# Calls a function for each value, on any machine, and yields the answers in order.
Engine = Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[Any]]


class Parts(Protocol):
    """Tables of parts of files that were read before, by a key."""

    def has(self, key: str, tables: Iterable[str]) -> bool:
        """Whether there is something for each table."""

    def read(self, key: str, tables: Iterable[str]) -> dict[str, bytes] | None:
        """The content of each table, or None."""

    def write(self, key: str, tables: Mapping[str, bytes]) -> None:
        """Keep the tables of a part."""


FETCH_ROWS = 1024
# For smaller files, looking at the first rows costs more than it saves.
LARGE_FILE = 8 << 20
TOGETHER_BYTES = 1 << 20
MOST_TOGETHER = 500
SNIFFED_ROWS = 20
MOST_FIELDS = 200
MOST_ORDERS = 8


@dataclass(frozen=True)
class Reading:
    """How lines are read: limits, progress, folder for spools, spans of files, engine and parts.

    If there is a folder for events, those of large files that an engine reads are stored there.
    """

    max_line_bytes: int
    read: Read
    spool: Path
    is_growing: bool = False
    spans: Mapping[int, Span] = field(default_factory=dict)
    engine: Engine | None = None
    parts: Parts | None = None
    events_folder: Path | None = None


def load(
    db: duckdb.DuckDBPyConnection,
    files: NumberedFiles,
    tallies: dict[int, FileTally],
    reading: Reading,
) -> list[foreign.Converted]:
    """Load every line as a record, a reject or blank; output items become events.

    Returns what files of other formats contain besides rows.
    """
    read, max_line_bytes = reading.read, reading.max_line_bytes
    n_bytes = sum(artifact.n_bytes for _, artifact in files)
    own = [(no, artifact) for no, artifact in files if artifact.format is None]
    others = [(no, artifact) for no, artifact in files if artifact.format is not None]
    converted: list[foreign.Converted] = []
    (n_processes,) = db.execute("select current_setting('threads')").fetchall()[0]
    is_set = max_line_bytes != DEFAULT_MAX_LINE_BYTES
    longest = max_line_bytes if is_set else foreign.LONGEST_ROW
    options = {"n_processes": n_processes, "max_line_bytes": longest}

    def lines() -> Iterator[pa.RecordBatch]:
        for file_no, artifact in own:
            tally = tallies.setdefault(file_no, FileTally())
            for batch in batches(
                artifact,
                file_no,
                tally,
                max_line_bytes=max_line_bytes,
                span=reading.spans.get(file_no, WHOLE),
                is_growing=reading.is_growing,
            ):
                yield batch
                read(batch.nbytes, n_bytes)

    def converted_lines() -> Iterator[pa.RecordBatch]:
        for file_no, contents, spooled in foreign.spooled(others, reading.spool, **options):
            for batch in spooled:
                yield batch
                read(batch.nbytes, n_bytes)
            tallies[file_no] = contents.tally
            converted.append(contents)

    first_keys = [keys for _, artifact in own for keys in _first_keys(artifact)]
    converting = converted_lines()
    first = list(itertools.islice(converting, 1))
    if sum(artifact.n_bytes for _, artifact in others) >= LARGE_FILE:
        first_keys += [
            _keys(line) for batch in first for line in batch["line"].to_pylist()[:SNIFFED_ROWS]
        ]
    fields = _known_fields(first_keys)
    orders = _known_orders(first_keys, fields)
    db.execute(record_sql.EVENTS)
    stream = pa.RecordBatchReader.from_batches(
        LINES, _together(itertools.chain(lines(), first, converting))
    )
    _run(db, stream, record_sql.insert_events(fields, orders, is_exact=False))
    _repair_irregular(db, tallies)
    return converted


def _together(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Combine small batches: DuckDB compiles patterns for each, which takes milliseconds."""
    waiting: list[pa.RecordBatch] = []
    n_bytes = 0
    for batch in batches:
        waiting.append(batch)
        n_bytes += batch.nbytes
        if n_bytes >= TOGETHER_BYTES or len(waiting) >= MOST_TOGETHER:
            yield pa.concat_batches(waiting) if len(waiting) > 1 else batch
            waiting, n_bytes = [], 0
    if waiting:
        yield pa.concat_batches(waiting)


def _repair_irregular(db: duckdb.DuckDBPyConnection, tallies: dict[int, FileTally]) -> None:
    """Read irregular lines again in Python: each is repaired, a reject, or blank."""
    db.execute("create temp table repaired (record_id bigint, line varchar, fault varchar)")
    # A second cursor, to read a result while writing.
    (name,) = db.execute("select current_database()").fetchall()[0]
    waiting = db.cursor().execute(f"""
        use "{name}";
        select record_id, text, arguments from raw.events where seq < 0 order by record_id
    """)
    while rows := waiting.fetchmany(FETCH_ROWS):
        repaired: list[tuple[Any, ...]] = []
        rejects: list[tuple[Any, ...]] = []
        for record_id, line, fault in rows:
            snippet = line.strip()[:SNIPPET_BYTES]
            if fault is not None:
                rejects.append((record_id, fault, snippet))
            elif not snippet:
                tallies[record_id >> LINE_BITS].n_blank += 1
            else:
                try:
                    # Only some lines still have their newline.
                    repaired.append((record_id, gym.repaired(line.removesuffix("\n")), None))
                except ValueError as error:
                    rejects.append((record_id, str(error), snippet))
        append(db, "repaired", repaired)
        append(db, "raw.rejects", rejects)
    db.execute("delete from raw.events where seq < 0")
    if db.execute("from repaired limit 1").fetchall():
        _run(db, db.table("repaired"), record_sql.insert_events([], [], is_exact=True))
        # A repaired row that still cannot be read is a reject.
        db.execute(f"""
            insert into raw.rejects
            select record_id, 'not readable as a row', left(text, {SNIPPET_BYTES})
            from raw.events where seq < 0;
            delete from raw.events where seq < 0;
        """)


def _run(
    db: duckdb.DuckDBPyConnection,
    source: pa.RecordBatchReader | duckdb.DuckDBPyRelation,
    query: str,
) -> None:
    db.register("lines", source)
    try:
        db.execute(query)
    finally:
        db.unregister("lines")


def _known_fields(first_keys: list[list[str]]) -> list[str]:
    """Fields beyond those of the format in the first rows of large files.

    Empty names and names that differ only in case cannot be in a struct and are left out.
    """
    others = {name for keys in first_keys for name in keys} - set(gym.FORMAT_FIELDS)
    names = sorted(name for name in others if name and not gym.LONE_SURROGATE.search(name))
    folded = [name.casefold() for name in (*gym.FORMAT_FIELDS, *names)]
    return [name for name in names if folded.count(name.casefold()) == 1][:MOST_FIELDS]


def _known_orders(first_keys: list[list[str]], fields: list[str]) -> list[list[str]]:
    """The orders of fields in the first rows of large files, which most other rows share."""
    known = {*gym.FORMAT_FIELDS, *fields}
    orders = dict.fromkeys(tuple(keys) for keys in first_keys if keys and known.issuperset(keys))
    return [list(keys) for keys in orders][:MOST_ORDERS]


def _first_keys(artifact: Artifact) -> list[list[str]]:
    if artifact.n_bytes < LARGE_FILE:
        return []
    lines: list[bytes] = []
    for buffer, start, end in read_blocks(artifact, FileTally(), n_carried=lambda: 0):
        lines = bytes(memoryview(buffer)[start:end]).split(b"\n", SNIFFED_ROWS)[:-1]
        break
    return [_keys(line) for line in lines]


def _keys(line: bytes | str) -> list[str]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return []
    return list(row) if isinstance(row, dict) else []
