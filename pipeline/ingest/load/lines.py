"""Read files as record batches of lines, with exact line numbers and hashes."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ...artifact import Artifact

BLOCK_BYTES = 8 << 20
PACKED_BYTES = 64 << 10
MANY_LINES = 1000
SNIPPET_BYTES = 200
NEWLINE = 10
CARRIAGE_RETURN = 13
BOM = b"\xef\xbb\xbf"

# `fault` is why a line is not text; `line` is then only its beginning.
LINES = pa.schema([("record_id", pa.int64()), ("line", pa.string()), ("fault", pa.string())])
# The id of a record combines the numbers of its file and its line in one integer.
LINE_BITS = 40


@dataclass
class FileTally:
    """Counts and hash of a file, and why it could not be read to its end."""

    n_bytes: int = 0
    n_lines: int = 0
    n_blank: int = 0
    is_counted: bool = True
    sha256: str | None = None
    damage: str | None = None


@dataclass(frozen=True)
class Span:
    """A range of bytes of a file that contains whole lines."""

    start: int = 0
    end: int | None = None


WHOLE = Span()


def record_id(file_no: int, line_no: int) -> int:
    """The id of a line: unique over all files, in the order of files and lines."""
    return (file_no << LINE_BITS) | line_no


def read_blocks(
    artifact: Artifact, tally: FileTally, *, n_carried: Callable[[], int], span: Span = WHOLE
) -> Iterator[tuple[bytearray, int, int]]:
    """Buffers of file bytes, each with `n_carried()` free bytes in front for a carried-over line.

    Yields (buffer, start, end). The hash is of the bytes on disk; parts of a file have none.
    """
    digest = hashlib.sha256()
    is_hashed = artifact.compression is None and span == WHOLE
    n_read = 0
    try:
        with pa.OSFile(os.fsencode(artifact.path)) as raw:
            tally.n_bytes = raw.size()
            raw.seek(span.start)
            stream = raw
            if artifact.compression is not None:
                stream = pa.CompressedInputStream(raw, artifact.compression)
            while True:
                start = n_carried()
                buffer = bytearray(start + _block_bytes(artifact, raw, span.end))
                view = memoryview(buffer)
                n_got, error = _fill(
                    stream, view[start:], is_packed=artifact.compression is not None
                )
                if is_hashed:
                    digest.update(view[start : start + n_got])
                if n_got:
                    n_read += n_got
                    yield buffer, start, start + n_got
                # After an error, a compressed stream would start over and never end.
                if error is not None:
                    if artifact.compression == "gzip":
                        for piece in _salvaged(artifact.path, n_read):
                            start = n_carried()
                            yield bytearray(start) + piece, start, start + len(piece)
                    raise error
                if not n_got:
                    break
        if artifact.compression is not None:
            with artifact.path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256")
        tally.sha256 = digest.hexdigest() if span == WHOLE else None
    except OSError as error:
        # Without the path: messages must not contain paths of this machine.
        tally.damage = os.strerror(error.errno) if error.errno else str(error)


def _block_bytes(artifact: Artifact, raw: pa.NativeFile, end: int | None) -> int:
    """The size of the next block: not more than is left, since clearing a large one takes time."""
    if artifact.compression is not None:
        return BLOCK_BYTES
    if end is not None:
        return min(BLOCK_BYTES, int(end - raw.tell()))
    return min(BLOCK_BYTES, max(int(raw.size() - raw.tell()), PACKED_BYTES))


def _fill(stream: Any, view: memoryview, *, is_packed: bool) -> tuple[int, OSError | None]:
    """Read into the view; a compressed file in pieces, so that damage costs only its end."""
    if not is_packed:
        return int(stream.readinto(view)), None
    n_got, piece = 0, 1
    while piece and n_got < len(view):
        try:
            piece = stream.readinto(view[n_got : n_got + PACKED_BYTES])
        except OSError as error:
            return n_got, error
        n_got += piece
    return n_got, None


def _salvaged(path: Path, n_known: int) -> Iterator[bytes]:
    """The content of a damaged file after `n_known` bytes, up to the damage."""
    decoder = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    with path.open("rb") as file:
        while packed := file.read(PACKED_BYTES):
            at_once, before = True, decoder.copy()
            place = 0
            while place < len(packed):
                part = packed[place:] if at_once else packed[place : place + 1]
                try:
                    plain = decoder.decompress(part)
                except zlib.error:
                    if not at_once:
                        return
                    at_once, decoder = False, before.copy()
                    continue
                place += len(part) - len(decoder.unused_data)
                if plain[n_known:]:
                    yield plain[n_known:]
                n_known = max(n_known - len(plain), 0)
                if decoder.eof:
                    decoder = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
                    before = decoder.copy()


def batches(
    artifact: Artifact,
    file_no: int,
    tally: FileTally,
    *,
    max_line_bytes: int,
    span: Span = WHOLE,
    is_growing: bool = False,
) -> Iterator[pa.RecordBatch]:
    """The non-blank lines of a file; overlong lines and lines that are not UTF-8 are faults.

    Numbers continue from the tally. An incomplete last line of a growing file is left out.
    """
    carry = bytearray()
    skipping = False  # inside a line that is already known to be too long

    def numbered(buffer: bytearray, starts: Any, ends: Any) -> Iterator[pa.RecordBatch]:
        first = record_id(file_no, tally.n_lines + 1)
        tally.n_lines += len(starts)
        yield from _batch(buffer, first, starts, ends, tally, max_line_bytes)

    for buffer, start, end in read_blocks(artifact, tally, n_carried=carry.__len__, span=span):
        view = memoryview(buffer)
        view[:start] = carry
        first = 0
        # The carried-over part has no newline: only new bytes are searched.
        breaks = _newlines(buffer, start, end)
        if skipping and len(breaks):
            # The overlong line ends here; it was numbered when it was cut.
            first, breaks, skipping = int(breaks[0]) + 1, breaks[1:], False
        if len(breaks):
            starts = np.concatenate(([first], breaks[:-1] + 1))
            yield from numbered(buffer, starts, breaks)
            first = int(breaks[-1]) + 1
        carry[:] = b"" if skipping else view[first:end]
        if len(carry) > max_line_bytes:
            yield from numbered(buffer, np.array([first]), np.array([end]))
            carry.clear()
            skipping = True
    if carry and not (is_growing and not _is_json(carry)):
        yield from numbered(carry, np.array([0]), np.array([len(carry)]))
    if tally.damage is not None:
        tally.n_lines += 1
        yield batch_of([(record_id(file_no, tally.n_lines), "", tally.damage)])


def _is_json(line: bytearray) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _newlines(buffer: bytearray, start: int, end: int) -> Any:
    """The positions of newlines: one by one for long lines, all at once for short ones."""
    places: list[int] = []
    place = buffer.find(b"\n", start, end)
    while place >= 0 and len(places) < MANY_LINES:
        places.append(place)
        place = buffer.find(b"\n", place + 1, end)
    if place < 0:
        return np.array(places, np.int64)
    rest = np.frombuffer(memoryview(buffer)[place:end], np.uint8)
    return np.concatenate((places, place + np.flatnonzero(rest == NEWLINE))).astype(np.int64)


def _batch(
    buffer: bytearray, first_id: int, starts: Any, ends: Any, tally: FileTally, limit: int
) -> Iterator[pa.RecordBatch]:
    """One batch over a buffer, without copying it unless some lines are unusable."""
    view = memoryview(buffer)
    lengths = ends - starts
    lone = lengths == 1
    blank = (lengths == 0) | (
        lone & (np.frombuffer(view, np.uint8)[np.where(lone, starts, 0)] == CARRIAGE_RETURN)
    )
    tally.n_blank += int(blank.sum())
    ids = first_id + np.arange(len(starts))
    if not blank.any() and lengths.max() <= limit:
        offsets = np.append(starts, ends[-1] + 1).astype(np.int32)
        # Lines keep their newlines, which JSON ignores, so that offsets are contiguous.
        offsets[-1] = ends[-1]
        lines = pa.StringArray.from_buffers(
            len(starts), pa.py_buffer(offsets), pa.py_buffer(buffer)
        )
        has_bom = _line_no(first_id) == 1 and bytes(view[starts[0] : starts[0] + 3]) == BOM
        if _is_utf8(lines) and not has_bom:
            nulls = pa.nulls(len(starts), pa.string())
            # For a numpy array, pyarrow would import more modules to check for a mask.
            numbers = pa.Array.from_buffers(pa.int64(), len(ids), [None, pa.py_buffer(ids)])
            yield pa.record_batch([numbers, lines, nulls], schema=LINES)
            return
    keep = np.flatnonzero(~blank)
    rows = [_checked(view[starts[i] : ends[i]], int(ids[i]), limit) for i in keep]
    if rows:
        yield batch_of(rows)


def batch_of(rows: list[tuple[int, str, str | None]]) -> pa.RecordBatch:
    """Lines with their ids and faults as a batch."""
    columns = zip(zip(*rows, strict=True), LINES.types, strict=True)
    return pa.record_batch([pa.array(values, kind) for values, kind in columns], schema=LINES)


def _checked(line: memoryview, identity: int, limit: int) -> tuple[int, str, str | None]:
    if len(line) > limit:
        return identity, _beginning(line), f"line is longer than {limit} bytes"
    content = bytes(line)
    if _line_no(identity) == 1:
        # A byte-order mark belongs to the file, not to its first row.
        content = content.removeprefix(BOM)
    try:
        return identity, content.decode("utf-8"), None
    except UnicodeDecodeError as error:
        return identity, _beginning(line), f"not UTF-8 at byte {error.start + 1}"


def _beginning(line: memoryview) -> str:
    return bytes(line[:SNIPPET_BYTES]).decode("utf-8", "replace")


def _line_no(identity: int) -> int:
    return identity & ((1 << LINE_BITS) - 1)


def _is_utf8(lines: pa.StringArray) -> bool:
    try:
        lines.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
