"""The user's cache folder, which neither an output nor a package can forge.

Its entries make a second call faster. If it cannot be used, everything is computed again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RECORDS = "outputs"
PACKAGES = "packages"
PARTS = "parts"
# How many entries of each kind are kept, and how many bytes of parts.
MOST_ENTRIES = {RECORDS: 256, PACKAGES: 8, PARTS: 4096}
MOST_BYTES = 8 << 30
ENTRY = re.compile(r"[0-9a-f]{64}(\.json)?")


def folder(kind: str) -> Path | None:
    """The folder of one kind of entry; None if another user could have written to it."""
    try:
        configured = Path(os.environ.get("XDG_CACHE_HOME", ""))
        base = configured if configured.is_absolute() else Path.home() / ".cache"
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = base / "blade"
        for each in (path, path / kind):
            each.mkdir(mode=0o700, exist_ok=True)
            state = each.lstat()
            if not (stat.S_ISDIR(state.st_mode) and _is_private(state)):
                return None
        return path / kind
    except (OSError, RuntimeError):  # not writable, or no home
        return None


def entry(kind: str, described: Path) -> Path | None:
    """The path of the entry for a folder, whether it exists or not."""
    place = folder(kind)
    name = hashlib.sha256(os.fsencode(os.path.realpath(described))).hexdigest()
    return None if place is None else place / name


def read(described: Path) -> Any:
    """The record for a folder; None if this user has written none."""
    path = entry(RECORDS, described)
    content = None if path is None else _content(path.with_suffix(".json"))
    try:
        return None if content is None else json.loads(content)
    except (ValueError, RecursionError):
        return None


def write(described: Path, record: Any) -> None:
    """Replace the record for a folder; if that fails, there is none."""
    path = entry(RECORDS, described)
    if path is not None:
        _put(path.with_suffix(".json"), json.dumps(record).encode())
        prune(RECORDS)


@dataclass
class Parts:
    """Tables that were read from parts of files, by what they are of; `program` is what read them.

    One analysis writes no more than is kept.
    """

    program: str
    n_bytes: int = 0

    def has(self, key: str, tables: Iterable[str]) -> bool:
        """Whether there is a file for each table."""
        paths = [self._path(key, table) for table in tables]
        return all(path is not None and path.is_file() for path in paths)

    def read(self, key: str, tables: Iterable[str]) -> dict[str, bytes] | None:
        """The content of each table; None if this user has not written all of them."""
        contents: dict[str, bytes] = {}
        for table in tables:
            path = self._path(key, table)
            content = None if path is None else _content(path)
            if path is None or content is None:
                return None
            contents[table] = content
            with suppress(OSError):
                os.utime(path)  # the oldest are removed first
        return contents

    def write(self, key: str, tables: Mapping[str, bytes]) -> None:
        """Keep the tables of a part."""
        self.n_bytes += sum(map(len, tables.values()))
        if self.n_bytes > MOST_BYTES:
            return
        for table, content in tables.items():
            path = self._path(key, table)
            if path is not None:
                _put(path, content)
        prune(PARTS)

    def _path(self, key: str, table: str) -> Path | None:
        place = folder(PARTS)
        name = hashlib.sha256(json.dumps([self.program, key, table]).encode()).hexdigest()
        return None if place is None else place / name


def _content(path: Path) -> bytes | None:
    """The bytes of a plain file that no other user could have written."""
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with os.fdopen(os.open(path, flags), "rb") as file:
            state = os.fstat(file.fileno())
            if not (stat.S_ISREG(state.st_mode) and _is_private(state)):
                return None
            return file.read()
    except OSError:
        return None


def _put(path: Path, content: bytes) -> None:
    """Replace a file at once; if that fails, there is none."""
    with suppress(OSError):
        # A new file with a random name, readable by this user only.
        opened, name = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(opened, "wb") as file:
                file.write(content)
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)


def prune(kind: str) -> None:
    place = folder(kind)
    if place is None:
        return
    with suppress(OSError):
        entries = [path for path in place.iterdir() if ENTRY.fullmatch(path.name)]
        entries.sort(key=lambda path: path.lstat().st_mtime_ns, reverse=True)
        n_bytes = 0
        for number, path in enumerate(entries):
            n_bytes += path.lstat().st_size
            if number >= MOST_ENTRIES[kind] or n_bytes > MOST_BYTES:
                remove(path)


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _is_private(state: os.stat_result) -> bool:
    return state.st_uid == os.geteuid() and not state.st_mode & 0o077
