"""Files: read up to a size limit, replaced as a whole, removed if they are this user's, synced."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

MOST_BYTES = 64 << 20  # unpacked
LEADS_OUT = "is a link that leads out of the results; --follow-links reads it"
TOO_LARGE = f"has more than {MOST_BYTES >> 20} MB"
QUERIES_DIR = Path(__file__).resolve().parent.with_name("sql") / "queries"


class UnreadableError(Exception):
    """Why a file cannot be read."""


def content(path: Path, *, most: int = MOST_BYTES) -> bytes:
    """All bytes of a regular file; raises UnreadableError with the reason if that is impossible."""
    try:
        if reason := not_plain(path.stat().st_mode):
            raise UnreadableError(reason)
        with path.open("rb") as file:
            data = file.read(most + 1)
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise UnreadableError("no such file") from error
    except OSError as error:
        raise UnreadableError(f"cannot be read: {reason_of(error)}") from error
    if len(data) > most:
        raise UnreadableError(TOO_LARGE if most == MOST_BYTES else f"has more than {most:,} bytes")
    return data


def read_queries(module: str) -> dict[str, str]:
    """The queries of a module by name: in its file each begins with a line `-- name: purpose`."""
    path = QUERIES_DIR / f"{module}.sql"
    _, *parts = re.split(r"(?m)^-- (\w+): ", path.read_text(encoding="utf-8"))
    # The rest of that line is a comment of the query.
    queries = (f"-- {text.strip().removesuffix(';')}" for text in parts[1::2])
    return dict(zip(parts[::2], queries, strict=True))


def not_plain(mode: int) -> str:
    """What a path is if not a regular file; reading a pipe or a device may never end."""
    if stat.S_ISDIR(mode):
        return "is a folder"
    return "" if stat.S_ISREG(mode) else "is a pipe or a device, not a file"


def reason_of(error: Exception) -> str:
    """The reason without the path: messages must not contain paths of this machine."""
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return reason or "refused by the system"


@contextmanager
def replacement(path: Path) -> Iterator[Path]:
    """An empty file in the folder of `path` to write to; on success it is renamed to `path`.

    It is newly created under a random name, so no prepared link can be followed. If `path` is a
    link, the link is replaced and its target stays unchanged.
    """
    beside = path.with_name(f".blade-{secrets.token_hex(8)}.writing")
    number = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
    try:
        # There may be no such file, and not every file system has modes.
        with suppress(OSError):
            status = path.lstat()
            if stat.S_ISREG(status.st_mode):
                os.fchmod(number, status.st_mode & 0o777)
        os.close(number)
        yield beside
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def is_inside(folder: Path, name: str) -> bool:
    """Whether a name stays inside the folder: no absolute path, no `..`, no link."""
    relative = PurePosixPath(name)
    if (
        relative.is_absolute()
        or ".." in relative.parts
        or str(relative) != name
        or not relative.name
    ):
        return False
    return not any((folder / parent).is_symlink() for parent in relative.parents if parent.name)


def stamp(path: Path) -> tuple[int, ...] | None:
    """What changes when a file is replaced or written; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size


def is_own(path: Path) -> bool:
    """Whether this is a regular file of this user; a link is not."""
    try:
        status = path.lstat()
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()


def remove(folder: Path, names: Iterable[str]) -> None:
    """Remove these files if they are this user's, and the folders that become empty."""
    for name in sorted(names):
        if not is_inside(folder, name):
            continue
        if is_own(folder / name):
            (folder / name).unlink()
        with suppress(OSError):
            for parent in PurePosixPath(name).parents[:-1]:
                (folder / parent).rmdir()


def below(folder: Path) -> set[str]:
    """The names of all files below a folder, without following links."""
    if folder.is_symlink():
        return set()
    return {
        Path(place, name).relative_to(folder).as_posix()
        for place, _, names in os.walk(folder)
        for name in names
    }


def link_of(path: Path) -> str | None:
    """The target of a link as written in it; None if the path is no link."""
    return str(path.readlink()) if path.is_symlink() else None


def sync(paths: Iterable[Path]) -> None:
    """Flush files and folder entries to disk."""
    for path in paths:
        opened = os.open(path, os.O_RDONLY)
        try:
            os.fsync(opened)
        except OSError as error:
            # Not every file system does this for folders.
            if error.errno != errno.EINVAL:
                raise
        finally:
            os.close(opened)
