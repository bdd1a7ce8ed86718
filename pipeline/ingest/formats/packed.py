"""Read members of a zip archive, and elements of a list in a JSON document, one at a time.

Neither is trusted: a member is decompressed only up to the limit and its stated size, and must have
its stated checksum; only one element of a document is in memory.
"""

from __future__ import annotations

import codecs
import json
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

# A sample of 300,000 events takes about 100 MB. Each list or object takes some 100 bytes and more
# once it is read, however short it is.
MOST_BYTES = 160 << 20
MOST_VALUES = 10_000_000
BLOCK = 4 << 20
STORED = 0
DEFLATED = 8
ZSTD = 93
LOCAL = struct.Struct("<4s5H3L2H")
BLANK = " \t\r\n"


@dataclass(frozen=True)
class Member:
    """A member of an archive: its position, sizes and checksum."""

    name: str
    method: int
    offset: int
    n_packed: int
    n_bytes: int
    checksum: int


def members(file: BinaryIO) -> list[Member]:
    """All members, the last of each name; ValueError if there is no directory."""
    try:
        with zipfile.ZipFile(file) as archive:
            listed = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, struct.error, OverflowError) as error:
        raise ValueError(f"not a whole zip archive: {error}") from error
    # Overlapping members could decompress to any size.
    if sum(one.compress_size for one in listed) > file.seek(0, 2):
        raise ValueError("not a whole zip archive: its members overlap")
    last = {
        one.filename: Member(
            one.filename,
            one.compress_type,
            one.header_offset,
            one.compress_size,
            one.file_size,
            one.CRC,
        )
        for one in listed
    }
    return list(last.values())


def salvaged(file: BinaryIO) -> list[Member]:
    """The complete members at the beginning of an unfinished archive."""
    members: dict[str, Member] = {}
    place, end = 0, file.seek(0, 2)
    while place + LOCAL.size <= end:
        file.seek(place)
        header = LOCAL.unpack(file.read(LOCAL.size))
        sign, _, flags, method, _, _, checksum, n_packed, n_bytes, n_name, n_extra = header
        start = place + LOCAL.size + n_name + n_extra
        # Sizes written after a member are unknown before it is read.
        if sign != b"PK\x03\x04" or flags & 8 or start + n_packed > end:
            break
        name = file.read(n_name).decode("utf-8", "replace")
        members[name] = Member(name, method, place, n_packed, n_bytes, checksum)
        place = start + n_packed
    return list(members.values())


def content(file: BinaryIO, member: Member) -> bytes:
    """The content of a member; ValueError if it is invalid or too large."""
    if max(member.n_bytes, member.n_packed) > MOST_BYTES:
        raise ValueError(f"has more than {MOST_BYTES >> 20} MB")
    file.seek(member.offset)
    header = file.read(LOCAL.size)
    if len(header) < LOCAL.size or header[:4] != b"PK\x03\x04":
        raise ValueError("is not at its stated position")
    n_name, n_extra = LOCAL.unpack(header)[-2:]
    file.seek(n_name + n_extra, 1)
    packed = file.read(member.n_packed)
    try:
        if member.method == DEFLATED:
            unpacked = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, member.n_bytes + 1)
        elif member.method == ZSTD:
            codec = pa.Codec("zstd")
            unpacked = codec.decompress(packed, member.n_bytes, asbytes=True) if packed else b""
        elif member.method == STORED:
            unpacked = packed
        else:
            raise ValueError(f"has an unknown compression method, {member.method}")
    except (zlib.error, OSError, pa.ArrowException) as error:
        raise ValueError("is damaged, it cannot be decompressed") from error
    if len(unpacked) != member.n_bytes or zlib.crc32(unpacked) != member.checksum:
        raise ValueError("is damaged: its size or checksum is wrong")
    return unpacked


def check_size(text: str | bytes) -> None:
    """ValueError if the lists and objects of a text would take too much memory."""
    if isinstance(text, str):
        n_values = text.count("[") + text.count("{")
    else:
        n_values = text.count(b"[") + text.count(b"{")
    if n_values > MOST_VALUES:
        raise ValueError(f"has more than {MOST_VALUES:,} lists and objects")


def fields(path: Path, streamed: str) -> Iterator[tuple[str, Any]]:
    """The fields of a JSON object in a file, with the list `streamed` one element at a time.

    If `streamed` is an object, its fields follow in the same way, as if they were of the document.
    A damaged document raises ValueError after its readable part.
    """
    with path.open("rb") as file:
        yield from _Text(file).fields(streamed, is_nested=False)


def elements(path: Path) -> Iterator[Any]:
    with path.open("rb") as file:
        yield from _Text(file).elements()


class _Text:
    """The text of a file, read in blocks and dropped after use."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self.json = json.JSONDecoder(parse_constant=lambda _: None)
        self.buffer = ""
        self.place = 0
        self.is_whole = False

    def more(self, n_bytes: int) -> None:
        block = self.file.read(n_bytes)
        self.is_whole = not block
        try:
            self.buffer = self.buffer[self.place :] + self.decode(block, self.is_whole)
        except UnicodeDecodeError as error:
            raise ValueError("not UTF-8") from error
        self.place = 0

    def at(self, sign: str) -> bool:
        """Whether this is the next character that is not blank."""
        while True:
            while self.place < len(self.buffer) and self.buffer[self.place] in BLANK:
                self.place += 1
            if self.place < len(self.buffer) or self.is_whole:
                return self.buffer.startswith(sign, self.place)
            self.more(BLOCK)

    def expect(self, sign: str) -> None:
        if not self.at(sign):
            raise ValueError(f"not JSON: {sign} is missing, the document may be cut off")
        self.place += 1

    def elements(self) -> Iterator[Any]:
        self.expect("[")
        while not self.at("]"):
            yield self.value()
            if not self.at("]"):
                self.expect(",")
        self.expect("]")

    def fields(self, streamed: str, *, is_nested: bool) -> Iterator[tuple[str, Any]]:
        self.expect("{")
        while not self.at("}"):
            name = self.value()
            self.expect(":")
            if name == streamed and self.at("["):
                yield from ((streamed, value) for value in self.elements())
            elif name == streamed and self.at("{") and not is_nested:
                yield from self.fields(streamed, is_nested=True)
            else:
                yield str(name), self.value()
            if not self.at("}"):
                self.expect(",")
        self.expect("}")

    def value(self) -> Any:
        """The next value; more text is read until it is complete."""
        self.at("")
        n_bytes = BLOCK
        while True:
            try:
                value, end = self.json.raw_decode(self.buffer, self.place)
                # A number may continue in the next block.
                if end < len(self.buffer) or self.is_whole:
                    self.place = end
                    return value
            except json.JSONDecodeError as error:
                if self.is_whole:
                    raise ValueError(f"not JSON: {error.msg}") from error
            except RecursionError as error:
                raise ValueError("not JSON: nested too deeply") from error
            if len(self.buffer) - self.place > MOST_BYTES:
                raise ValueError(f"not JSON, or a value of more than {MOST_BYTES >> 20} MB")
            self.more(n_bytes)
            check_size(self.buffer)
            n_bytes *= 2
