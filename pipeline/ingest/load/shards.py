"""Read files in shards of whole lines, wherever an engine runs.

Shards are independent. Their rows are returned as Parquet, and their lines are numbered when all
earlier lines are counted, so that the rows are the same as those of one stream.
"""

from __future__ import annotations

import hashlib
import io
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from ...artifact import Artifact
from ...errors import InputError
from ...files import reason_of
from ...settings import SQL_DIR
from . import record_sql, records
from .lines import WHOLE, FileTally, Span, record_id

SHARD_BYTES = 256 << 20
TABLES = ("raw.events", "raw.rejects")
# Several workers share a machine: what exceeds the memory is written to disk.
WORKER_CONFIG: dict[str, Any] = {
    "threads": 1,
    "memory_limit": "1GB",
    "autoinstall_known_extensions": False,
}
SAME_PATH_HINT = "Results must have the same path on all machines."


@dataclass(frozen=True)
class Shard:
    """Whole lines of a file. Only the first shard may begin with a byte order mark."""

    artifact: Artifact
    file_no: int
    span: Span
    is_first: bool
    max_line_bytes: int
    is_growing: bool = False

    def __str__(self) -> str:
        return f"{self.artifact.name}, from byte {self.span.start:,}"


@dataclass
class Gathered:
    """The contents of a shard: its tally, and each table as Parquet."""

    tally: FileTally
    tables: dict[str, bytes] = field(default_factory=dict)


def cut(artifact: Artifact) -> list[Span]:
    """Spans of similar size that end with a line; a compressed file has only one."""
    if artifact.compression is not None:
        return [WHOLE]
    n_bytes = artifact.n_bytes
    bounds = [0]
    try:
        with artifact.path.open("rb") as file:
            while bounds[-1] + SHARD_BYTES < n_bytes:
                file.seek(bounds[-1] + SHARD_BYTES)
                if file.readline()[-1:] != b"\n" or file.tell() >= n_bytes:
                    break
                bounds.append(file.tell())
    except OSError:
        return [WHOLE]  # reading it will report the error
    ends = [*bounds[1:], None]
    return [Span(start, end) for start, end in zip(bounds, ends, strict=True)]


def split_by_engine(
    files: records.NumberedFiles, reading: records.Reading
) -> tuple[records.NumberedFiles, records.NumberedFiles]:
    """The files that are read in one stream here, and those that the engine reads."""
    if reading.engine is None:
        return files, []
    return (
        [(no, artifact) for no, artifact in files if artifact.format is not None],
        [(no, artifact) for no, artifact in files if artifact.format is None],
    )


def load(
    db: duckdb.DuckDBPyConnection,
    files: records.NumberedFiles,
    tallies: dict[int, FileTally],
    reading: records.Reading,
) -> None:
    """Read files shard by shard with the engine."""
    if reading.engine is None:
        return
    shards = list(_shards(files, reading))
    n_bytes = sum(artifact.n_bytes for _, artifact in files)
    for shard, gathered in zip(shards, reading.engine(gather, shards), strict=True):
        tally = tallies.setdefault(shard.file_no, FileTally())
        n_before = 0 if shard.is_first else 1
        offset = record_id(shard.file_no, tally.n_lines - n_before)
        for table in TABLES:
            _insert(db, table, gathered.tables[table], offset)
        read = gathered.tally
        tally.n_lines += read.n_lines - n_before
        tally.n_blank += read.n_blank
        tally.n_bytes, tally.sha256 = read.n_bytes, read.sha256
        reading.read(min(SHARD_BYTES, read.n_bytes), n_bytes)
    # The hash of a file with several shards.
    numbers = [shard.file_no for shard in shards]
    divided = [(no, artifact) for no, artifact in files if numbers.count(no) > 1]
    hashes = reading.engine(digest, [artifact for _, artifact in divided])
    for (file_no, _), sha256 in zip(divided, hashes, strict=True):
        tallies[file_no].sha256 = sha256


def _shards(files: records.NumberedFiles, reading: records.Reading) -> Iterator[Shard]:
    for file_no, artifact in files:
        for span in cut(artifact):
            yield Shard(
                artifact,
                file_no,
                span,
                span.start == 0,
                reading.max_line_bytes,
                reading.is_growing,
            )


def gather(shard: Shard) -> Gathered:
    """Read one shard like a file; its lines are numbered from 1, or from 2 if others precede it."""
    if not Path(shard.artifact.path).exists():
        raise InputError(f"{shard.artifact.name}: not found.", hint=SAME_PATH_HINT)
    tallies = {0: FileTally(n_lines=0 if shard.is_first else 1)}
    reading = records.Reading(
        shard.max_line_bytes,
        read=lambda _read, _all: None,
        spool=Path(),
        is_growing=shard.is_growing,
        spans={0: shard.span},
    )
    with (
        tempfile.TemporaryDirectory(prefix="blade-") as spill,
        duckdb.connect(":memory:", config={**WORKER_CONFIG, "temp_directory": spill}) as db,
    ):
        db.execute(
            "set disabled_optimizers = 'statistics_propagation'; set enable_progress_bar = false; "
            f"create schema raw; create table raw.rejects ({record_sql.REJECTS})"
        )
        db.execute((SQL_DIR / "macros.sql").read_text(encoding="utf-8"))
        records.load(db, [(0, shard.artifact)], tallies, reading)
        tables = {table: _parquet(db.table(table)) for table in TABLES}
    return Gathered(tallies[0], tables)


def digest(artifact: Artifact) -> str | None:
    """The hash of a whole file."""
    try:
        with artifact.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{artifact.name}: cannot be read ({reason_of(error)}).") from error


def _parquet(table: duckdb.DuckDBPyRelation) -> bytes:
    import pyarrow.parquet as pq  # slow to import, and rarely needed

    sink = io.BytesIO()
    stream = table.to_arrow_reader()
    with pq.ParquetWriter(sink, stream.schema, compression="zstd") as writer:
        for batch in stream:
            writer.write_batch(batch)
    return sink.getvalue()


def _insert(db: duckdb.DuckDBPyConnection, table: str, content: bytes, offset: int) -> None:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(pa.BufferReader(content))
    if not file.num_row_groups:  # which older versions of pyarrow cannot iterate
        return
    stream = pa.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches())
    db.register("gathered", stream)
    db.execute(
        f"insert into {table} select * replace (record_id + {offset} as record_id) from gathered"
    )
    db.unregister("gathered")
