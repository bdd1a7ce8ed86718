"""Row by row artifacts -> raw.records and raw.events, in one stream over all files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import pyarrow as pa

from pipeline.artifact import Artifact
from pipeline.ingest.formats import gym
from pipeline.ingest.load import record_sql
from pipeline.ingest.load.lines import (
    LINE_BITS,
    LINES,
    SNIPPET_BYTES,
    FileTally,
    batches,
    read_blocks,
)
from pipeline.relation import append

NumberedFiles = list[tuple[int, Artifact]]
Read = Callable[[int, int], None]  # bytes just read, bytes in all

FETCH_ROWS = 1024
# Smaller files are read the general way: a look ahead would cost more than it saves.
LARGE_FILE = 8 << 20
SNIFFED_ROWS = 20
MOST_FIELDS = 200


def load(
    db: duckdb.DuckDBPyConnection,
    files: NumberedFiles,
    tallies: dict[int, FileTally],
    *,
    max_line_bytes: int,
    read: Read,
) -> None:
    """Every line becomes a record, a reject or blank; items of rollouts' output become events."""
    n_bytes = sum(artifact.path.stat().st_size for _, artifact in files)

    def lines() -> Iterator[pa.RecordBatch]:
        for file_no, artifact in files:
            tally = tallies[file_no] = FileTally()
            for batch in batches(artifact, file_no, tally, max_line_bytes=max_line_bytes):
                yield batch
                read(batch.nbytes, n_bytes)

    fields = _known_fields([artifact for _, artifact in files])
    db.execute(record_sql.EVENTS)
    stream = pa.RecordBatchReader.from_batches(LINES, lines())
    _run(db, stream, record_sql.insert_events(fields, is_exact=False))
    _settle_irregular(db, tallies)
    db.execute(record_sql.create_records())


def _settle_irregular(db: duckdb.DuckDBPyConnection, tallies: dict[int, FileTally]) -> None:
    """Read the irregular lines again, exactly: each is repaired, a reject, or blank after all."""
    db.execute("create temp table repaired (record_id bigint, line varchar, fault varchar)")
    # To read a result bit by bit while writing: one connection holds one open result.
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
                    repaired.append((record_id, gym.regular(line), None))
                except ValueError as error:
                    rejects.append((record_id, str(error), snippet))
        append(db, "repaired", repaired)
        append(db, "raw.rejects", rejects)
    db.execute("delete from raw.events where seq < 0")
    if db.execute("from repaired limit 1").fetchall():
        _run(db, db.table("repaired"), record_sql.insert_events([], is_exact=True))
        # A repaired row that still cannot be read is a reject, never lost.
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
    """Run a query over `lines`: a stream, or a table of ours."""
    db.register("lines", source)
    try:
        db.execute(query)
    finally:
        db.unregister("lines")


def _known_fields(artifacts: list[Artifact]) -> list[str]:
    """Fields beyond the format's own that large files begin with.

    Names that differ only in case, or are none, make no struct and are left out.
    """
    found = {name for artifact in artifacts for name in _first_fields(artifact)}
    names = sorted(name for name in found if name and not gym.LONE_SURROGATE.search(name))
    folded = [name.casefold() for name in (*gym.OWNED_FIELDS, *names)]
    return [name for name in names if folded.count(name.casefold()) == 1][:MOST_FIELDS]


def _first_fields(artifact: Artifact) -> set[str]:
    if artifact.path.stat().st_size < LARGE_FILE:
        return set()
    lines: list[bytes] = []
    for buffer, start, end in read_blocks(artifact, FileTally(), room=lambda: 0):
        lines = bytes(memoryview(buffer)[start:end]).split(b"\n", SNIFFED_ROWS)[:-1]
        break
    return {name for line in lines for name in _keys(line)} - set(gym.OWNED_FIELDS)


def _keys(line: bytes) -> list[str]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return []
    return list(row) if isinstance(row, dict) else []
