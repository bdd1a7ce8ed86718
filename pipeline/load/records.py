"""Row by row artifacts -> raw.records and raw.events, as streams over all files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import pyarrow as pa

from pipeline.artifact import Artifact, Kind
from pipeline.formats import gym
from pipeline.load import record_sql
from pipeline.load.lines import LINE_BITS, LINES, SNIPPET_BYTES, FileTally, batches
from pipeline.load.sniff import known_fields, sniff
from pipeline.load.tables import append

NumberedFiles = list[tuple[int, Artifact]]
Progress = Callable[[str, int], None]

FETCH_ROWS = 1024


def load(
    db: duckdb.DuckDBPyConnection,
    files: NumberedFiles,
    tallies: dict[int, FileTally],
    *,
    max_line_bytes: int,
    progress: Progress,
) -> None:
    """Every line becomes a record, a reject or blank; items of rollouts' output become events."""

    def stream(
        step: str, chosen: NumberedFiles, sink: dict[int, FileTally]
    ) -> pa.RecordBatchReader:
        def made() -> Iterator[pa.RecordBatch]:
            for file_no, artifact in chosen:
                tally = sink[file_no] = FileTally()
                for batch in batches(artifact, file_no, tally, max_line_bytes=max_line_bytes):
                    yield batch
                    progress(step, batch.nbytes)

        return pa.RecordBatchReader.from_batches(LINES, made())

    sniffed = {file_no: sniff(artifact) for file_no, artifact in files}
    fields = known_fields(list(sniffed.values()))
    light = [(no, artifact) for no, artifact in files if sniffed[no].is_light]
    heavy = [(no, artifact) for no, artifact in files if not sniffed[no].is_light]
    rollouts = [(no, artifact) for no, artifact in heavy if artifact.kind is Kind.ROLLOUTS]

    db.execute(record_sql.TABLES)
    for chosen, keeps_items in ((light, True), (heavy, False)):
        query = record_sql.insert_records(fields, keeps_items=keeps_items, is_exact=False)
        _run(db, stream("rows", chosen, tallies), query)
    _settle_irregular(db, tallies)
    db.execute(record_sql.insert_events(from_items=True))
    _run(db, stream("events", rollouts, {}), record_sql.insert_events(from_items=False))
    # Filtering the stream by a join would buffer it; irregular rows are few, so mend afterwards.
    db.execute("delete from raw.events where record_id in (select record_id from repaired)")
    _run(db, db.table("repaired"), record_sql.insert_events(from_items=False))
    db.execute("""
        drop table repaired;
        alter table raw.records drop column irregular;
        alter table raw.records drop column items;
    """)


def _settle_irregular(db: duckdb.DuckDBPyConnection, tallies: dict[int, FileTally]) -> None:
    """Read the irregular lines again, exactly: each is repaired, a reject, or blank after all."""
    db.execute("""
        insert into raw.rejects
        select record_id, irregular.fault, irregular.line from raw.records
        where irregular.fault is not null
    """)
    waiting = _second_connection(db).execute("""
        select record_id, irregular.line from raw.records
        where irregular is not null and irregular.fault is null
        order by record_id
    """)
    while rows := waiting.fetchmany(FETCH_ROWS):
        repaired: list[tuple[Any, ...]] = []
        rejects: list[tuple[Any, ...]] = []
        for record_id, line in rows:
            if not line.strip():
                tallies[record_id >> LINE_BITS].n_blank += 1
                continue
            try:
                repaired.append((record_id, gym.regular(line), None))
            except ValueError as error:
                rejects.append((record_id, str(error), line.strip()[:SNIPPET_BYTES]))
        append(db, "repaired", repaired)
        append(db, "raw.rejects", rejects)
    db.execute("delete from raw.records where irregular is not null")
    exact = record_sql.insert_records([], keeps_items=False, is_exact=True)
    _run(db, db.table("repaired"), exact)
    # A repaired row that still cannot be read is a reject, never lost.
    db.execute(f"""
        insert into raw.rejects
        select record_id, 'not readable as a row', left(irregular.line, {SNIPPET_BYTES})
        from raw.records where irregular is not null;
        delete from raw.records where irregular is not null;
    """)


def _second_connection(db: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """To read a result bit by bit while writing: one connection holds one open result."""
    (name,) = db.execute("select current_database()").fetchall()[0]
    return db.cursor().execute(f'use "{name}"')


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
