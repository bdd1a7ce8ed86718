"""Files read within one limit, replaced whole, removed where they are this user's, synced."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

MOST_BYTES = 64 << 20  # unpacked
LEADS_OUT = "is a link that leads out of the results; --follow-links reads it"
TOO_LARGE = f"has more than {MOST_BYTES >> 20} MB"


class UnreadableError(Exception):
    """Why a file cannot be used, in words."""


def content(path: Path, *, most: int = MOST_BYTES) -> bytes:
    """All bytes of a plain file; UnreadableError says why they are not read."""
    try:
        if reason := not_plain(path.stat().st_mode):
            raise UnreadableError(reason)
        with path.open("rb") as file:
            found = file.read(most + 1)
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise UnreadableError("no such file") from error
    except OSError as error:
        raise UnreadableError(f"cannot be read: {reason_of(error)}") from error
    if len(found) > most:
        raise UnreadableError(TOO_LARGE if most == MOST_BYTES else f"has more than {most:,} bytes")
    return found


def not_plain(mode: int) -> str:
    """What a path leads to other than a file; reading a pipe or a device may never end."""
    if stat.S_ISDIR(mode):
        return "is a folder"
    return "" if stat.S_ISREG(mode) else "is a pipe or a device, not a file"


def reason_of(error: Exception) -> str:
    """The system's own words: a message must not carry a path of this machine."""
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return reason or "the system refuses it"


@contextmanager
def replacement(path: Path) -> Iterator[Path]:
    """An empty file beside `path` to write to; without an error it is then renamed to `path`.

    Its name is random and it is created, never opened: a link in wait is not followed. A link at
    `path` itself is replaced, and what it leads to stays as it is.
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
    """Whether a listed name leads to a place in the folder: no absolute path, no `..`, no link."""
    way = PurePosixPath(name)
    if way.is_absolute() or ".." in way.parts or str(way) != name or not way.name:
        return False
    return not any((folder / parent).is_symlink() for parent in way.parents if parent.name)


def is_own(path: Path) -> bool:
    """Whether this is a plain file of this user's; a link is not, wherever it leads."""
    try:
        status = path.lstat()
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()


def remove(folder: Path, names: Iterable[str]) -> None:
    """Remove this user's files at these names in a folder, and the folders that are then empty."""
    for name in sorted(names):
        if not is_inside(folder, name):
            continue
        if is_own(folder / name):
            (folder / name).unlink()
        with suppress(OSError):
            for parent in PurePosixPath(name).parents[:-1]:
                (folder / parent).rmdir()


def below(folder: Path) -> set[str]:
    """The names of the files below a folder; links are not followed."""
    if folder.is_symlink():
        return set()
    return {
        Path(place, name).relative_to(folder).as_posix()
        for place, _, names in os.walk(folder)
        for name in names
    }


def link_of(path: Path) -> str | None:
    """Where a link leads, as it says itself; nothing where there is none."""
    return str(path.readlink()) if path.is_symlink() else None


def sync(paths: Iterable[Path]) -> None:
    """Have on the disk what was written of files, and of what folders list."""
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
