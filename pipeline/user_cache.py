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
from contextlib import suppress
from pathlib import Path
from typing import Any

RECORDS = "outputs"
PACKAGES = "packages"
# How many entries of each kind are kept.
MOST_ENTRIES = {RECORDS: 256, PACKAGES: 8}
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
    if path is None:
        return None
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with os.fdopen(os.open(path.with_suffix(".json"), flags), "rb") as file:
            state = os.fstat(file.fileno())
            if not (stat.S_ISREG(state.st_mode) and _is_private(state)):
                return None
            return json.load(file)
    except (OSError, ValueError, RecursionError):
        return None


def write(described: Path, record: Any) -> None:
    """Replace the record for a folder; if that fails, there is none."""
    path = entry(RECORDS, described)
    if path is None:
        return
    with suppress(OSError):
        # A new file with a random name, readable by this user only.
        opened, name = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(opened, "w", encoding="utf-8") as file:
                json.dump(record, file)
            Path(name).replace(path.with_suffix(".json"))
        finally:
            Path(name).unlink(missing_ok=True)
        prune(RECORDS)


def prune(kind: str) -> None:
    """Remove the oldest entries."""
    place = folder(kind)
    if place is None:
        return
    with suppress(OSError):
        entries = [path for path in place.iterdir() if ENTRY.fullmatch(path.name)]
        entries.sort(key=lambda path: path.lstat().st_mtime_ns, reverse=True)
        for path in entries[MOST_ENTRIES[kind] :]:
            remove(path)


def remove(path: Path) -> None:
    """Remove an entry: a record or a folder."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _is_private(state: os.stat_result) -> bool:
    return state.st_uid == os.geteuid() and not state.st_mode & 0o077
