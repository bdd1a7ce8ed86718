"""Read files in shards of whole lines, wherever an engine runs.

Shards are independent. Their rows are returned as Parquet, and their lines are numbered when all
earlier lines are counted, so that the rows are the same as those of one stream.
"""

from __future__ import annotations

import hashlib
import io
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
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
from .lines import BLOCK_BYTES, WHOLE, FileTally, Span, record_id

SHARD_BYTES = 256 << 20
# A file that was written later than this may change once more without showing it.
SETTLED_NS = 2 * 10**9
TABLES = ("raw.events", "raw.rejects")
# Several workers share a machine: what exceeds the memory is written to disk.
WORKER_CONFIG: dict[str, Any] = {
    "threads": 1,
    "memory_limit": "1GB",
    "autoinstall_known_extensions": False,
}
# For long texts: zstd would halve them, and take twice as long.
CODECS = dict.fromkeys(("arguments", "text", "words", "verifier", "prompt"), "snappy")
TALLY = pa.schema([("n_lines", pa.int64()), ("n_blank", pa.int64())])
PART = (*TABLES, "tally")
# Rows that are in memory at a time, uncompressed.
GROUP_ROWS = 16384
State = tuple[int, ...]
SAME_PATH_HINT = "Results must have the same path on all machines."


@dataclass(frozen=True)
class Shard:
    """Whole lines of a file. Only the first shard may begin with a byte order mark.

    The key is of its content, if others follow it.
    """

    artifact: Artifact
    file_no: int
    span: Span
    is_first: bool
    max_line_bytes: int
    is_growing: bool = False
    key: str | None = None

    def __str__(self) -> str:
        return f"{self.artifact.name}, from byte {self.span.start:,}"


@dataclass(frozen=True)
class Divided:
    """A file and the spans of its shards."""

    artifact: Artifact
    spans: list[Span]

    def __str__(self) -> str:
        return self.artifact.name


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
    """Read files shard by shard with the engine, except shards that were read before."""
    if reading.engine is None:
        return
    divided = {no: Divided(artifact, cut(artifact)) for no, artifact in files}
    several = {no: file for no, file in divided.items() if len(file.spans) > 1}
    states = {no: _state(file.artifact) for no, file in several.items()}
    hashed = dict(zip(several, reading.engine(digests, list(several.values())), strict=True))
    shards = [
        shard
        for no, file in divided.items()
        for shard in _shards(no, file, hashed.get(no, []), reading)
    ]
    schemas = {table: db.table(table).limit(0).to_arrow_table().schema for table in TABLES}
    n_bytes = sum(artifact.n_bytes for _, artifact in files)
    reading.spool.mkdir(exist_ok=True)
    for shard, gathered in _gathered(shards, states, schemas, reading):
        read = gathered.tally
        tally = tallies.setdefault(shard.file_no, FileTally())
        n_before = 0 if shard.is_first else 1
        offset = record_id(shard.file_no, tally.n_lines - n_before)
        for table in TABLES:
            _insert(db, table, gathered.tables[table], offset, reading.spool / "shard.parquet")
        reading.read(min(SHARD_BYTES, read.n_bytes), n_bytes)
        tally.n_lines += read.n_lines - n_before
        tally.n_blank += read.n_blank
        tally.n_bytes, tally.sha256 = read.n_bytes, read.sha256
    for no, of_parts in hashed.items():
        tallies[no].sha256 = of_parts[-1]


def _gathered(
    shards: list[Shard],
    states: Mapping[int, State | None],
    schemas: Mapping[str, pa.Schema],
    reading: records.Reading,
) -> Iterator[tuple[Shard, Gathered]]:
    """The contents of all shards in order: from the cache, or as the engine reads them."""
    assert reading.engine is not None
    parts = reading.parts
    is_cached = [bool(parts and shard.key and parts.has(shard.key, PART)) for shard in shards]
    new = [shard for shard, cached in zip(shards, is_cached, strict=True) if not cached]
    answers = reading.engine(gather, new)
    for shard, cached in zip(shards, is_cached, strict=True):
        if cached:
            yield shard, _cached(parts, shard, schemas) or gather(shard)
            continue
        gathered = next(answers)
        state = _state(shard.artifact)
        is_unchanged = state is not None and state == states.get(shard.file_no)
        if parts and shard.key and is_unchanged and gathered.tally.damage is None:
            parts.write(shard.key, _packed(gathered))
        yield shard, gathered


def _shards(
    file_no: int, file: Divided, hashed: list[str], reading: records.Reading
) -> Iterator[Shard]:
    for place, span in enumerate(file.spans):
        # What precedes the end of a shard, and where it begins, say what it contains.
        content = f"{hashed[place]} {span.start} {reading.max_line_bytes}" if span.end else None
        yield Shard(
            file.artifact,
            file_no,
            span,
            span.start == 0,
            reading.max_line_bytes,
            reading.is_growing,
            content,
        )


def _state(artifact: Artifact) -> State | None:
    """What changes with the content of a file; None if it was written a moment ago."""
    try:
        state = artifact.path.stat()
    except OSError:
        return None
    changed_ns = max(state.st_mtime_ns, state.st_ctime_ns)
    is_old = time.time_ns() - changed_ns > SETTLED_NS
    return (state.st_ino, state.st_size, changed_ns) if is_old else None


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


def digests(file: Divided) -> list[str]:
    """The hash of a file up to the end of each of its spans; the last is that of the file."""
    digest = hashlib.sha256()
    hashed: list[str] = []
    try:
        with file.artifact.path.open("rb") as content:
            for span in file.spans:
                n_bytes = sys.maxsize if span.end is None else span.end - span.start
                while n_bytes and (block := content.read(min(n_bytes, BLOCK_BYTES))):
                    digest.update(block)
                    n_bytes -= len(block)
                hashed.append(digest.hexdigest())
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({reason_of(error)}).") from error
    return hashed


def _packed(gathered: Gathered) -> dict[str, bytes]:
    """What is kept of a shard: its tables, and its counts as another."""
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    counts = [[gathered.tally.n_lines], [gathered.tally.n_blank]]
    pq.write_table(pa.table(counts, schema=TALLY), sink)
    return {**gathered.tables, "tally": sink.getvalue()}


def _cached(
    parts: records.Parts | None, shard: Shard, schemas: Mapping[str, pa.Schema]
) -> Gathered | None:
    """A shard that was read before; None if what is kept of it has other columns."""
    import pyarrow.parquet as pq

    contents = parts.read(shard.key, PART) if parts and shard.key else None
    if contents is None:
        return None
    try:
        for table, schema in {**schemas, "tally": TALLY}.items():
            if not pq.read_schema(pa.BufferReader(contents[table])).equals(schema):
                return None
        (counts,) = pq.read_table(pa.BufferReader(contents.pop("tally"))).to_pylist()
    except (pa.ArrowException, ValueError):
        return None
    return Gathered(FileTally(n_bytes=shard.artifact.n_bytes, **counts), contents)


def _parquet(table: duckdb.DuckDBPyRelation) -> bytes:
    import pyarrow.parquet as pq  # slow to import, and rarely needed

    sink = io.BytesIO()
    stream = table.to_arrow_reader(GROUP_ROWS)
    codecs = {name: CODECS.get(name, "zstd") for name in stream.schema.names}
    with pq.ParquetWriter(sink, stream.schema, compression=codecs) as writer:
        for batch in stream:
            writer.write_batch(batch)
    return sink.getvalue()


def _insert(
    db: duckdb.DuckDBPyConnection, table: str, content: bytes, offset: int, file: Path
) -> None:
    """Insert the rows of a shard by way of a file: DuckDB reads Parquet faster than from Arrow."""
    file.write_bytes(content)
    db.execute(
        f"insert into {table} select * replace (record_id + {offset} as record_id) "
        "from read_parquet(?)",
        [str(file)],
    )
    file.unlink()
