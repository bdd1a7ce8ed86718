"""Lines that an earlier warehouse holds: copied from there, they need not be read again.

Where all that it holds stays under the same numbers, the new one begins as a copy of its file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from pipeline.artifact import ROW_KINDS, Artifact
from pipeline.ingest.load.foreign import TABLES
from pipeline.ingest.load.lines import BLOCK_BYTES, LINE_BITS, FileTally, Span, record_id
from pipeline.relation import create_table


@dataclass(frozen=True)
class Earlier:
    """A warehouse made before by the same reader, and the files that are known to be as then."""

    warehouse: Path
    unchanged: frozenset[str]


@dataclass(frozen=True)
class Kept:
    """What is kept of a file: so many lines of one that had this number, and what it told.

    `span` is the rest of it, which must be read.
    """

    old_no: int
    n_lines: int
    tally: FileTally = field(default_factory=FileTally)
    span: Span | None = None


@dataclass(frozen=True)
class Held:
    """What a warehouse holds of the files of today, by number; in place where nothing else is."""

    warehouse: Path
    files: Mapping[int, Kept]
    is_in_place: bool
    block_size: int


def by_row(found: list[Artifact]) -> list[tuple[int, Artifact]]:
    """The files that are read row by row, by number."""
    return [
        (no, artifact)
        for no, artifact in enumerate(found)
        if artifact.kind in ROW_KINDS or artifact.format is not None
    ]


def kept(earlier: Earlier, artifacts: list[Artifact]) -> Held:
    """The files of which at least the beginning is as it was."""
    names = {artifact.path: artifact.name for artifact in artifacts}
    with duckdb.connect(str(earlier.warehouse), read_only=True) as db:
        (block_size,) = db.execute("select block_size from pragma_database_size()").fetchall()[0]
        was = {row["path"]: row for row in db.table("raw.files").to_arrow_table().to_pylist()}
        # Tasks of other formats were renamed where a row of ours asks the same.
        is_renamed = bool(db.execute("from raw.question_matches limit 1").fetchall())
    found: dict[int, Kept] = {}
    for file_no, artifact in by_row(artifacts):
        old = was.get(artifact.name)
        if old is None or old["sha256"] is None or old["kind"] != artifact.kind:
            continue
        counts = (old["n_bytes"], old["n_lines"] or 0, old["n_blank"] or 0)
        tally = FileTally(*counts, is_counted=old["n_lines"] is not None, sha256=old["sha256"])
        if artifact.format is not None:
            is_same = not is_renamed and _is_read_alike(artifact, old, earlier.unchanged, names)
        else:
            is_same = artifact.name in earlier.unchanged and _is_ended(artifact)
        if is_same:
            found[file_no] = Kept(old["file_no"], tally.n_lines, tally)
        elif artifact.format is None and (grown := _grown(artifact, old["file_no"], tally)):
            found[file_no] = grown
    then = {
        row["file_no"]
        for row in was.values()
        if row["kind"] in ROW_KINDS or row["format"] is not None
    }
    places = {file_no for file_no, one in found.items() if one.old_no == file_no}
    return Held(earlier.warehouse, found, then == places and len(places) == len(found), block_size)


def _is_read_alike(
    artifact: Artifact,
    old: Mapping[str, Any],
    unchanged: frozenset[str],
    names: Mapping[Path, str],
) -> bool:
    """Whether a file of another format, and what is read with it, are as they were.

    A format may ask the name of the folder that a file lies in: at the top it is not in the name.
    """
    beside = beside_names(artifact, names)
    return (
        "/" in artifact.name
        and (old["format"], old["run_name"]) == (artifact.format, artifact.run_name)
        and old["beside"] == beside
        and unchanged.issuperset([artifact.name, *beside])
    )


def beside_names(artifact: Artifact, names: Mapping[Path, str]) -> list[str]:
    """The files that it is read together with, by the names that the warehouse has for files."""
    return [names.get(path, "") for path in artifact.beside]


def trim(db: duckdb.DuckDBPyConnection, held: Held) -> None:
    """Of rows that are in place already, those of last lines that had not ended."""
    for file_no, one in held.files.items():
        if one.span is not None:
            ends = (record_id(file_no, one.n_lines), record_id(file_no + 1, 0))
            db.execute("delete from raw.events where record_id > ? and record_id < ?", ends)


def copy(db: duckdb.DuckDBPyConnection, held: Held, *, has_events: bool) -> None:
    """Their rows and rejects, under the numbers that the files have now."""
    rows = [
        (one.old_no, record_id(file_no, 0) - record_id(one.old_no, 0), one.n_lines)
        for file_no, one in held.files.items()
    ]
    create_table(db, "kept", "old_no bigint, moved bigint, n_lines bigint", rows)
    quoted = str(held.warehouse).replace("'", "''")
    db.execute(f"attach '{quoted}' as earlier (read_only)")
    for table in ("raw.rejects",) if has_events else ("raw.events", "raw.rejects"):
        db.execute(f"""
            insert into {table}
            select old.* replace (record_id + moved as record_id)
            from earlier.{table} as old
            inner join kept on old_no = record_id >> {LINE_BITS}
            where record_id - (old_no << {LINE_BITS}) <= n_lines
        """)
    for table in TABLES.values():
        db.execute(f"""
            insert into {table}
            select old.* replace (file_no + (moved >> {LINE_BITS}) as file_no)
            from earlier.{table} as old
            inner join kept on old_no = file_no
        """)
    db.execute("detach earlier; drop table kept")


def _grown(artifact: Artifact, old_no: int, was: FileTally) -> Kept | None:
    """A file that begins with all that it was, to the byte: only what follows must be read."""
    if artifact.n_bytes < was.n_bytes:
        return None
    digest, whole_lines = hashlib.sha256(), hashlib.sha256()
    n_read = n_newlines = start = 0
    unended = b""
    for block in _blocks(artifact.path, was.n_bytes):
        n_read += len(block)
        n_newlines += block.count(b"\n")
        head, newline, tail = block.rpartition(b"\n")
        if newline:
            whole_lines = digest.copy()
            whole_lines.update(head + newline)
            start, unended = n_read - len(tail), tail
        else:
            unended += block
        digest.update(block)
    if n_read != was.n_bytes or digest.hexdigest() != was.sha256:
        return None
    if artifact.n_bytes == was.n_bytes and not unended:
        return Kept(old_no, was.n_lines, was)
    # The last line may have been half of one. Blank ones are counted, and have no row to tell.
    if artifact.compression is not None or (unended and not unended.strip()):
        return None
    tally = FileTally(n_lines=n_newlines, n_blank=was.n_blank)
    return Kept(old_no, n_newlines, tally, Span(start, digest=whole_lines))


def _is_ended(artifact: Artifact) -> bool:
    """Does its last line end? One that does not may have waited for its end, or not."""
    if artifact.compression is not None or not artifact.n_bytes:
        return True
    try:
        with artifact.path.open("rb") as file:
            file.seek(-1, 2)
            return file.read(1) == b"\n"
    except OSError:
        return False


def _blocks(path: Path, n_bytes: int) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            while n_bytes and (block := file.read(min(BLOCK_BYTES, n_bytes))):
                n_bytes -= len(block)
                yield block
    except OSError:
        return
