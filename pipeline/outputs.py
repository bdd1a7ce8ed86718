"""Files of one folder that change together, and one command at a time that changes them.

New files are written to `.blade/new`. Those that replace nothing are put in place first. A link
takes the place of every other: it leads through `.blade/now`, to the old files until one rename
turns it to the new ones. At last files take the place of the links, and stale files go. Killed
anywhere, the folder shows all old files or all new ones, perhaps beside some that only the other
output has, and no link leads nowhere; the next command tidies up.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pipeline import files
from pipeline.errors import InputError, UsageError
from pipeline.settings import MANIFEST_NAME, WAREHOUSE_NAME

ROOM, NEW, OLD, NOW, LINK = ".blade", "new", "old", "now", "link"
# All that a command puts there: a folder with anything else is someone's own.
IN_ROOM = {NEW, OLD, NOW, LINK, "spill", "spool"}
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
    """The files that the manifest of this user's earlier analysis lists, and ours by name."""
    if not files.is_own(out / MANIFEST_NAME):
        return set()
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
    try:
        # A device or a pipe is written to, never replaced.
        if path.exists() and not (path.is_file() or path.is_dir()):
            yield path
            return
        with files.replacement(path) as beside:
            yield beside
    except OSError as error:
        reason = files.reason_of(error)
        raise InputError(f"{path}: cannot be written ({reason}).", hint=hint) from error


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
    names = files.below(room / NEW)
    for name in names:
        _refuse_unusable(out, out / name)
    existing = {name for name in names if (out / name).is_file()}
    gone = {name for name in stale if files.is_inside(out, name) and files.is_own(out / name)}
    gone -= names
    files.sync(room / NEW / name for name in names)
    files.sync(_listing(room / NEW, names))
    try:
        for name in existing | gone:
            (room / OLD / name).parent.mkdir(parents=True, exist_ok=True)
            os.link(os.path.realpath(out / name), room / OLD / name)
        (room / NOW).symlink_to(OLD)
        for name in sorted(names - existing):
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            _put(room, out / name, room / NEW / name)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        # One by one, then: each is whole, but a kill in between leaves some of each.
        (room / NOW).unlink(missing_ok=True)
        for name in sorted(names):
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (room / NEW / name).replace(out / name)
        files.remove(out, gone)
        return
    for name in sorted(existing):
        _put(room, out / name, _way(name))
    files.sync(_listing(out, names))
    _put(room, room / NOW, NEW)
    files.sync([room])


def settle(out: Path) -> None:
    """Put files in the place of links, those that these lead to, and remove the room."""
    room = out / ROOM
    if room.is_symlink() or (room.exists() and not {p.name for p in room.iterdir()} <= IN_ROOM):
        raise _in_the_way(room)
    now = room / NOW
    if now.is_symlink() and (chosen := str(now.readlink())) in (OLD, NEW):
        others = NEW if chosen == OLD else OLD
        names, strange = files.below(room / chosen), files.below(room / others)
        for name in sorted(names | strange):
            if files.is_inside(out, name) and files.link_of(out / name) == _way(name):
                if name in names:
                    _put(room, out / name, room / chosen / name)
                else:
                    (out / name).unlink()
        # What belongs to the other output alone, and the folders made for it.
        strange = {name for name in strange if _is_same(out / name, room / others / name)}
        files.remove(out, strange)
        files.sync(_listing(out, names | strange))
        now.unlink()
    shutil.rmtree(room, ignore_errors=True)


def _put(room: Path, path: Path, source: Path | str) -> None:
    """A second name of a file, or a link to where a text says; the first name stays for readers."""
    by = room / LINK
    by.unlink(missing_ok=True)
    by.symlink_to(source) if isinstance(source, str) else os.link(source, by)
    by.replace(path)


def _way(name: str) -> str:
    """Where the link that takes the place of a file leads."""
    return f"{'../' * name.count('/')}{ROOM}/{NOW}/{name}"


def _is_same(path: Path, other: Path) -> bool:
    """Whether both are one file, or the first is absent."""
    return not path.exists() or path.samefile(other)


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
