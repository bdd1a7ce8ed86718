"""Read files in shards of whole lines, wherever an engine runs.

Shards are independent. The lines before each are counted first, so that its rows, which are
returned as Parquet, have the ids that they would have in one stream. Few events are inserted into
the warehouse; the Parquet of many is stored beside it, and `raw.events` becomes a view of it.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from ...artifact import Artifact
from ...errors import InputError
from ...files import reason_of
from ...settings import EVENTS_FOLDER, EVENTS_LIST, SQL_DIR
from . import record_sql, records
from .lines import BLOCK_BYTES, LINE_BITS, WHOLE, FileTally, Span

SHARD_BYTES = 256 << 20
# For smaller inputs, a warehouse of one file is worth more than the time to insert their events.
STORED_BYTES = 64 << 20
# A file that was written later than this may change once more without showing it.
SETTLED_NS = 2 * 10**9
EVENTS, REJECTS = TABLES = ("raw.events", "raw.rejects")
# Several workers share a machine: what exceeds the memory is written to disk.
WORKER_CONFIG: dict[str, Any] = {
    "threads": 1,
    "memory_limit": "1GB",
    "autoinstall_known_extensions": False,
}
# For long texts: zstd would halve them, and take twice as long.
CODECS = dict.fromkeys(("arguments", "text", "words", "verifier", "prompt"), "snappy")
SUMMARY = pa.schema(
    [
        ("file_no", pa.int64()),
        ("n_lines", pa.int64()),
        ("n_blank", pa.int64()),
        ("events_name", pa.string()),
    ]
)
PART = (*TABLES, "summary")
# Rows that are in memory at a time, uncompressed.
GROUP_ROWS = 16384
State = tuple[int, ...]
SAME_PATH_HINT = "Results must have the same path on all machines."
NO_ROOM = "Free disk space there, or choose another place with --out."


@dataclass(frozen=True)
class Shard:
    """Whole lines of a file, and how many lines precede them.

    `key` identifies its content in the cache; the last shard of a file has none and is not cached.
    """

    artifact: Artifact
    file_no: int
    span: Span
    n_before: int
    max_line_bytes: int
    is_growing: bool = False
    key: str | None = None

    def __str__(self) -> str:
        return f"{self.artifact.name}, from byte {self.span.start:,}"


@dataclass(frozen=True)
class Divided:
    artifact: Artifact
    spans: list[Span]

    def __str__(self) -> str:
        return self.artifact.name


class Prefix(NamedTuple):
    """The hash of a file up to the end of a span, and how many lines end there."""

    sha256: str
    n_lines: int


@dataclass
class Gathered:
    """The contents of a shard: its tally, each table as Parquet, and a name for its events."""

    tally: FileTally
    tables: dict[str, bytes] = field(default_factory=dict)
    events_name: str = ""


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
    prefixes = dict(zip(several, reading.engine(scan, list(several.values())), strict=True))
    shards = [
        shard
        for no, file in divided.items()
        for shard in _shards(no, file, prefixes.get(no, []), reading)
    ]
    schemas = {table: db.table(table).limit(0).to_arrow_table().schema for table in TABLES}
    n_bytes = sum(artifact.n_bytes for _, artifact in files)
    folder = reading.events_folder if n_bytes >= STORED_BYTES else None
    names: list[str] = []
    reading.spool.mkdir(exist_ok=True)
    for shard, gathered in _gathered(shards, states, schemas, reading):
        of_shard = gathered.tally
        tally = tallies.setdefault(shard.file_no, FileTally())
        if tally.n_lines != shard.n_before:
            message = f"{shard.artifact.name}: changed while it was read."
            raise InputError(message, hint="Analyze again when nothing writes to it.")
        spooled = reading.spool / "shard.parquet"
        _insert(db, REJECTS, gathered.tables[REJECTS], spooled)
        if folder is None:
            _insert(db, EVENTS, gathered.tables[EVENTS], spooled)
        else:
            names.append(f"{gathered.events_name}.parquet")
            _store(folder / names[-1], gathered.tables[EVENTS])
        # Progress, roughly: a tally has the bytes of the whole file.
        reading.read(min(SHARD_BYTES, of_shard.n_bytes), n_bytes)
        # Lines are counted from the beginning of the file, blank ones from that of the shard.
        tally.n_lines = of_shard.n_lines
        tally.n_blank += of_shard.n_blank
        tally.n_bytes, tally.sha256 = of_shard.n_bytes, of_shard.sha256
    # A file of several shards was hashed when it was scanned.
    for no, of_file in prefixes.items():
        tallies[no].sha256 = of_file[-1].sha256
    if folder is not None and names:
        _store(folder / EVENTS_LIST, json.dumps(names, indent=2).encode())
        db.execute(record_sql.view_events([f"{EVENTS_FOLDER}/{name}" for name in names]))


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
            # What cannot be used of the cache is read again here, without the engine.
            yield shard, _cached(parts, shard, schemas) or gather(shard)
            continue
        gathered = next(answers)
        state = _state(shard.artifact)
        is_unchanged = state is not None and state == states.get(shard.file_no)
        if parts and shard.key and is_unchanged and gathered.tally.damage is None:
            parts.write(shard.key, _packed(shard, gathered))
        yield shard, gathered


def _shards(
    file_no: int, file: Divided, prefixes: list[Prefix], reading: records.Reading
) -> Iterator[Shard]:
    n_before = 0
    for place, span in enumerate(file.spans):
        key = None
        if span.end is not None:
            # What precedes the end of a shard, and where it begins, say what it contains.
            key = f"{prefixes[place].sha256} {span.start} {reading.max_line_bytes}"
        yield Shard(
            file.artifact,
            file_no,
            span,
            n_before,
            reading.max_line_bytes,
            reading.is_growing,
            key,
        )
        if span.end is not None:
            n_before = prefixes[place].n_lines


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
    """Read one shard like a file whose earlier lines are known."""
    if not Path(shard.artifact.path).exists():
        raise InputError(f"{shard.artifact.name}: not found.", hint=SAME_PATH_HINT)
    tallies = {shard.file_no: FileTally(n_lines=shard.n_before)}
    reading = records.Reading(
        shard.max_line_bytes,
        read=lambda _read, _all: None,
        spool=Path(),
        is_growing=shard.is_growing,
        spans={shard.file_no: shard.span},
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
        records.load(db, [(shard.file_no, shard.artifact)], tallies, reading)
        tables = {table: _parquet(db.table(table).to_arrow_reader(GROUP_ROWS)) for table in TABLES}
    return Gathered(tallies[shard.file_no], tables, _name(tables))


def _name(tables: Mapping[str, bytes]) -> str:
    """A name that only these events have: no output can show those of another."""
    return hashlib.sha256(tables[EVENTS]).hexdigest()


def scan(file: Divided) -> list[Prefix]:
    """What precedes the end of each span of a file; the last prefix is the whole file."""
    digest = hashlib.sha256()
    n_lines = 0
    prefixes: list[Prefix] = []
    try:
        with file.artifact.path.open("rb") as content:
            for span in file.spans:
                n_bytes = sys.maxsize if span.end is None else span.end - span.start
                while n_bytes and (block := content.read(min(n_bytes, BLOCK_BYTES))):
                    digest.update(block)
                    n_lines += block.count(b"\n")
                    n_bytes -= len(block)
                prefixes.append(Prefix(digest.hexdigest(), n_lines))
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({reason_of(error)}).") from error
    return prefixes


def _packed(shard: Shard, gathered: Gathered) -> dict[str, bytes]:
    tally = gathered.tally
    values = [[shard.file_no], [tally.n_lines], [tally.n_blank], [gathered.events_name]]
    summary = pa.table(values, schema=SUMMARY)
    return {**gathered.tables, "summary": _parquet(summary.to_reader())}


def _cached(
    parts: records.Parts | None, shard: Shard, schemas: Mapping[str, pa.Schema]
) -> Gathered | None:
    """A shard that was read before; None if what is kept of it has other columns."""
    import pyarrow.parquet as pq

    contents = parts.read(shard.key, PART) if parts and shard.key else None
    if contents is None:
        return None
    try:
        for table, schema in {**schemas, "summary": SUMMARY}.items():
            if not pq.read_schema(pa.BufferReader(contents[table])).equals(schema):
                return None
        (summary,) = pq.read_table(pa.BufferReader(contents.pop("summary"))).to_pylist()
        file_no, events_name = summary.pop("file_no"), summary.pop("events_name")
        if file_no != shard.file_no:
            offset = (shard.file_no - file_no) << LINE_BITS
            contents = {table: _renumbered(contents[table], offset) for table in TABLES}
            events_name = _name(contents)
    except (pa.ArrowException, ValueError):
        return None
    tally = FileTally(n_bytes=shard.artifact.n_bytes, **summary)
    return Gathered(tally, contents, events_name)


def _renumbered(content: bytes, offset: int) -> bytes:
    """A table of a shard as if its file had another number among the files."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    file = pq.ParquetFile(pa.BufferReader(content))
    place = file.schema_arrow.get_field_index("record_id")
    schema = file.schema_arrow

    def groups() -> Iterator[pa.RecordBatch]:
        for batch in file.iter_batches(GROUP_ROWS):
            yield batch.set_column(place, schema.field(place), pc.add(batch[place], offset))

    return _parquet(pa.RecordBatchReader.from_batches(schema, groups()))


def _parquet(stream: pa.RecordBatchReader) -> bytes:
    import pyarrow.parquet as pq  # slow to import, and rarely needed

    sink = io.BytesIO()
    codecs = {name: CODECS.get(name, "zstd") for name in stream.schema.names}
    with pq.ParquetWriter(sink, stream.schema, compression=codecs) as writer:
        for batch in stream:
            writer.write_batch(batch)
    return sink.getvalue()


def _insert(db: duckdb.DuckDBPyConnection, table: str, content: bytes, file: Path) -> None:
    """Insert the rows of a shard by way of a file: DuckDB reads Parquet faster than from Arrow."""
    file.write_bytes(content)
    db.execute(f"insert into {table} from read_parquet(?)", [str(file)])
    file.unlink()


def _store(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        message = f"{path.parent}: cannot be written ({reason_of(error)})."
        raise InputError(message, hint=NO_ROOM) from error
