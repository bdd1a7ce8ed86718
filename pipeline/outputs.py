"""Files of one folder that change together, and one command at a time that changes them.

New files are written to `.blade/new`. Then a link takes the place of every old one: it leads
through `.blade/now`, to the old files until one rename turns it to the new ones. At last the files
take the place of the links. Killed anywhere, the folder shows all old files or all new ones; the
next command tidies up.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from pipeline import files
from pipeline.errors import InputError, UsageError
from pipeline.settings import MANIFEST_NAME, WAREHOUSE_NAME

ROOM, NEW, OLD, NOW = ".blade", "new", "old", "now"
# Nothing else is ours to remove, even if a manifest lists it.
OURS = re.compile(
    r"((runs|benchmarks)/[A-Za-z0-9_-][A-Za-z0-9._-]*/)?(report\.(md|html)|metrics\.json)"
)
# What a file system says that has no links, or a system that does not allow this one.
NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)
MAKE_ROOM = "Make room there, or choose another place with --out or TMPDIR."


def refuse_unusable(out: Path) -> None:
    """Say what is in the way before anything takes time: a folder for a file, a file for one."""
    for name, is_folder in ((WAREHOUSE_NAME, False), (ROOM, True), ("runs", True)):
        path = out / name
        if path.exists() and path.is_dir() != is_folder:
            raise _in_the_way(path)


def listed(out: Path) -> set[str]:
    """What the manifest of an earlier analysis names as written, and is ours by its name."""
    try:
        manifest = json.loads(files.content(out / MANIFEST_NAME))
        return {name for name in manifest["outputs"] if OURS.fullmatch(name)}
    except (files.UnreadableError, ValueError, KeyError, TypeError, RecursionError):
        return set()


@contextmanager
def replaced(
    out: Path,
    *,
    by: str = "analysis",
    note: Callable[[str], None] = lambda _words: None,
    stale: Callable[[Path], Iterable[str]] = listed,
) -> Iterator[Path]:
    """A folder for new files; on leaving without an error they are in place, what is stale gone."""
    new = out / ROOM / NEW
    with alone(out, by):
        _refuse_unusable(out, new / "any")
        if new.parent.exists():
            settle(out)
            note(f"removed what a killed {by} left: {ROOM}")
        try:
            with explained(out):
                new.mkdir(parents=True)
            yield new
            with explained(out):
                _switch(out, stale(out))
        finally:
            settle(out)


def write(folder: Path, texts: Mapping[str, str]) -> None:
    """Each text to its path below the folder."""
    for name, text in texts.items():
        path = folder / name
        with explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            # Only a template of the user's can bring along what no file can hold.
            path.write_bytes(text.encode("utf-8", errors="backslashreplace"))


@contextmanager
def replacing(path: Path, *, hint: str) -> Iterator[Path]:
    """A file beside one, renamed when it is whole: a reader sees the old one or the new one."""
    beside = path.with_name(f".{path.name}.writing")
    try:
        # A device or a pipe is written to, never replaced.
        if path.exists() and not (path.is_file() or path.is_dir()):
            yield path
            return
        yield beside
        beside.replace(path)
    except OSError as error:
        reason = files.reason_of(error)
        raise InputError(f"{path}: cannot be written ({reason}).", hint=hint) from error
    finally:
        with suppress(OSError):
            beside.unlink()


@contextmanager
def alone(folder: Path, by: str = "analysis") -> Iterator[None]:
    """Hold the folder; the system lets go of it even when we are killed."""
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        held = os.open(folder, os.O_RDONLY)
    try:
        with explained(folder):
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UsageError(
            f"{folder}: another {by} is writing here.",
            hint="Wait for it to finish, or choose another folder with --out.",
        ) from error
    else:
        yield
    finally:
        os.close(held)


def _switch(out: Path, stale: Iterable[str]) -> None:
    """From the old files to the new ones, both whole, in one rename."""
    room = out / ROOM
    names = _files(room / NEW)
    for name in names:
        _refuse_unusable(out, out / name)
    gone = {name for name in stale if (out / name).is_file() and not _is_linked(out, out / name)}
    gone -= names
    _sync(room / NEW / name for name in names)
    _sync(_listing(room / NEW, names))
    try:
        for name in names | gone:
            if (out / name).is_file():
                (room / OLD / name).parent.mkdir(parents=True, exist_ok=True)
                os.link(os.path.realpath(out / name), room / OLD / name)
        (room / NOW).symlink_to(OLD)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        # One by one, then: each is whole, but a kill in between leaves some of each.
        _take(out, room / NEW)
        _remove(out, gone)
        return
    for name in sorted(names | gone):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        up = "../" * name.count("/")
        _point(out / name, f"{up}{ROOM}/{NOW}/{name}", by=room / "link")
    _sync(_listing(out, names))
    _point(room / NOW, NEW, by=room / "link")
    _sync([room])


def settle(out: Path) -> None:
    """Files in the place of links, of those that these lead to; then the room is gone."""
    room = out / ROOM
    now = room / NOW
    if now.is_symlink() and (chosen := now.readlink()) in (Path(OLD), Path(NEW)):
        _take(out, room / chosen)
        # Links to what is in the other folder alone.
        left = _files(room / OLD) | _files(room / NEW)
        _remove(out, (name for name in left if (out / name).is_symlink()))
        _sync(_listing(out, left))
        now.unlink()
    shutil.rmtree(room, ignore_errors=True)


def _take(out: Path, folder: Path) -> None:
    """Move all files of a folder into their places."""
    for name in sorted(_files(folder)):
        _refuse_unusable(out, out / name)
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).replace(out / name)


def _remove(out: Path, names: Iterable[str]) -> None:
    """Files below `out`, and the folder of a run when that is empty; nothing else."""
    for name in sorted(names):
        path = out / name
        if path.is_dir() or _is_linked(out, path):
            continue
        path.unlink(missing_ok=True)
        if path.parent != out and not any(path.parent.iterdir()):
            path.parent.rmdir()


def _point(path: Path, target: str, *, by: Path) -> None:
    by.unlink(missing_ok=True)
    by.symlink_to(target)
    by.replace(path)


def _sync(paths: Iterable[Path]) -> None:
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


def _files(folder: Path) -> set[str]:
    """The names of the files below a folder; links are not followed."""
    return {
        Path(place, name).relative_to(folder).as_posix()
        for place, _, names in os.walk(folder)
        for name in names
        if not folder.is_symlink()
    }


def _refuse_unusable(out: Path, path: Path) -> None:
    """Nothing is written through a link, over a folder or below a file."""
    for each in (*_folders(out, path), path):
        is_usable = os.access(each, os.W_OK) and each.is_dir() and not each.is_symlink()
        if os.path.lexists(each) and (each.is_dir() if each == path else not is_usable):
            raise _in_the_way(each)


def _in_the_way(path: Path) -> InputError:
    hint = "Move it, or choose another folder with --out."
    return InputError(f"{path}: is in the way of the output.", hint=hint)


def _listing(out: Path, names: Iterable[str]) -> set[Path]:
    """The folders in which these names stand."""
    folders = {folder for name in names for folder in _folders(out, out / name)}
    return {out, *(folder for folder in folders if folder.is_dir())}


def _is_linked(out: Path, path: Path) -> bool:
    return any(folder.is_symlink() for folder in _folders(out, path))


def _folders(out: Path, path: Path) -> list[Path]:
    return [parent for parent in path.parents if out in parent.parents]


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """What the system says against writing, as a message."""
    try:
        yield
    except BlockingIOError:
        raise
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({os.strerror(error.errno or 0)}).", hint=MAKE_ROOM
        ) from error
