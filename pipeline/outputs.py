"""Replace all files of an output folder at once; only one command at a time may do so.

New files are written to `.blade/new`. Files that replace nothing are put in place first. Every
other file is replaced by a link through `.blade/now`, which points to the old files until one
rename makes it point to the new ones. Then the links are replaced by the files, and stale files
are removed. If the process is killed, the folder shows all old files or all new ones, possibly
together with files that only the other output has, and no link is broken; the next command cleans
up. A report that is not as an analysis wrote it is copied before it is replaced or removed.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import itertools
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import files
from .errors import InputError, UsageError
from .settings import EVENTS_FILE, EVENTS_FOLDER, EVENTS_LIST, MANIFEST_NAME, WAREHOUSE_NAME
from .text import one_line

WORK_FOLDER = ".blade"
NEW = "new"
OLD = "old"
NOW = "now"
LINK = "link"
# All that a command writes there: a folder with anything else belongs to someone else.
WORK_ENTRIES = {NEW, OLD, NOW, LINK, "spill", "spool"}
# Only these are removed, even if a manifest lists others.
OURS = re.compile(
    r"((runs|benchmarks)/[A-Za-z0-9_-][A-Za-z0-9._-]*/)?(report\.(md|html)|metrics\.json)"
)
# Errors of file systems without hard links, or where this link is not allowed.
LINK_ERRORS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)
MAKE_ROOM = "Free disk space there, or choose another place with --out or TMPDIR."


def refuse_unusable(out: Path) -> None:
    """Fail early if a folder has the name of an output file, or a file that of a folder."""
    for name, is_folder in (
        (WAREHOUSE_NAME, False),
        (WORK_FOLDER, True),
        ("runs", True),
        (EVENTS_FOLDER, True),
    ):
        path = out / name
        if path.exists() and path.is_dir() != is_folder:
            raise _in_the_way(path)


def listed(out: Path) -> set[str]:
    """The files of blade that the manifest of this user's earlier analysis lists."""
    known = _written(out) if files.is_own(out / MANIFEST_NAME) else {}
    return {*filter(OURS.fullmatch, known), *_listed_events(out)}


def _listed_events(out: Path) -> set[str]:
    """The files of events that are listed beside them: engines differ in these alone."""
    place = Path(EVENTS_FOLDER, EVENTS_LIST)
    try:
        names = json.loads(files.content(out / place)) if files.is_own(out / place) else []
        listed = {f"{EVENTS_FOLDER}/{name}" for name in names if EVENTS_FILE.fullmatch(name)}
    except (files.UnreadableError, ValueError, TypeError, RecursionError):
        return set()
    return {str(place), *listed} if names else set()


def sha256s(texts: Mapping[str, str]) -> dict[str, str]:
    """The hash of each text as it is written: a file with another one was edited."""
    return {name: hashlib.sha256(_encoded(text)).hexdigest() for name, text in texts.items()}


def _written(out: Path) -> dict[str, Any]:
    """The files that a manifest lists, with the hashes that it has of them."""
    try:
        manifest = json.loads(files.content(out / MANIFEST_NAME))
        names = [name for name in manifest["outputs"] if OURS.fullmatch(name)]
        return dict.fromkeys(names) | dict(manifest.get("outputs_sha256", {}))
    except (files.UnreadableError, ValueError, KeyError, TypeError, RecursionError):
        return {}


@contextmanager
def replaced(
    out: Path,
    *,
    by: str = "analysis",
    note: Callable[[str], None] = lambda _words: None,
    stale: Callable[[Path], Iterable[str]] = listed,
) -> Iterator[Path]:
    """A folder for new files; on success they are moved into place and stale files are removed."""
    new = out / WORK_FOLDER / NEW
    with locked(out, by):
        _refuse_obstacles(out, new / "any")
        if new.parent.exists():
            finish(out)
            note(f"removed the leftovers of a killed {by}: {WORK_FOLDER}")
        stale(out)  # it may refuse the folder, which should take no time
        try:
            with explained(out):
                new.mkdir(parents=True)
            yield new
            with explained(out):
                stale_names = set(stale(out))
                # What other commands replace is theirs to change: a copy of it may not be shared.
                replaced_names = files.below(new) | stale_names if by == "analysis" else ()
                for name, copy in _copy_edited(out, replaced_names):
                    note(f"{name} had been edited: the edited file is now {copy}")
                _switch(out, stale_names)
        finally:
            finish(out)


def of_earlier_call(out: Path, known: set[str], *, by: str, hint: str) -> set[str]:
    """The files of an earlier call, to be replaced; a folder with anything else is refused."""
    work = f"{WORK_FOLDER}/"
    if strange := sorted(name for name in files.below(out) - known if not name.startswith(work)):
        such = one_line(strange[0])
        message = f"{out}: holds files that are not of an earlier {by}, such as {such}."
        raise UsageError(message, hint=hint)
    return known


def write(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        path = folder / name
        with explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_encoded(text))


def _encoded(text: str) -> bytes:
    # Templates of the user may contain characters that UTF-8 cannot encode.
    return text.encode("utf-8", errors="backslashreplace")


@contextmanager
def replacing(path: Path, *, hint: str) -> Iterator[Path]:
    """A temporary file that replaces `path` on success: readers see the old or the new file."""
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
def locked(folder: Path, by: str = "analysis") -> Iterator[None]:
    """Lock the folder; the system releases the lock even if this process is killed."""
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY)
    try:
        with explained(folder):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UsageError(
            f"{folder}: another {by} is writing here.",
            hint="Wait for it to finish, or choose another folder with --out.",
        ) from error
    else:
        yield
    finally:
        os.close(lock)


def _copy_edited(out: Path, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Copy those of these files that somebody edited or wrote; names and names of the copies."""
    written = _written(out)
    for name in sorted(filter(OURS.fullmatch, names)):
        path = out / name
        # A link is replaced without touching the file that it leads to.
        if not files.is_inside(out, name) or path.is_symlink() or not path.is_file():
            continue
        # Earlier versions list outputs without hashes.
        if name in written and written[name] in (None, _sha256(path)):
            continue
        # An output that was moved here without its manifest loses nothing.
        new = out / WORK_FOLDER / NEW / name
        if new.is_file() and _sha256(new) == _sha256(path):
            continue
        copy = path.with_name(f"{path.stem}.edited{path.suffix}")
        numbers = itertools.count(2)
        while os.path.lexists(copy):
            copy = path.with_name(f"{path.stem}.edited-{next(numbers)}{path.suffix}")
        shutil.copy2(path, copy)
        yield name, copy.relative_to(out).as_posix()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _switch(out: Path, stale: Iterable[str]) -> None:
    """Switch from all old files to all new files in one rename."""
    work = out / WORK_FOLDER
    names = files.below(work / NEW)
    for name in names:
        _refuse_obstacles(out, out / name)
    existing = {name for name in names if (out / name).is_file()}
    stale_files = {
        name for name in stale if files.is_inside(out, name) and files.is_own(out / name)
    }
    stale_files -= names
    files.sync(work / NEW / name for name in names)
    files.sync(_listing(work / NEW, names))
    try:
        for name in existing | stale_files:
            (work / OLD / name).parent.mkdir(parents=True, exist_ok=True)
            os.link(os.path.realpath(out / name), work / OLD / name)
        (work / NOW).symlink_to(OLD)
        for name in sorted(names - existing):
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            _put(work, out / name, work / NEW / name)
    except OSError as error:
        if error.errno not in LINK_ERRORS:
            raise
        # Replace the files one by one: if killed in between, some are old and some new.
        (work / NOW).unlink(missing_ok=True)
        for name in sorted(names):
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (work / NEW / name).replace(out / name)
        files.remove(out, stale_files)
        return
    for name in sorted(existing):
        _put(work, out / name, _link_target(name))
    files.sync(_listing(out, names))
    _put(work, work / NOW, NEW)
    files.sync([work])


def finish(out: Path) -> None:
    """Replace links with the files that they point to, and remove the work folder."""
    work = out / WORK_FOLDER
    if work.is_symlink() or (
        work.exists() and not {p.name for p in work.iterdir()} <= WORK_ENTRIES
    ):
        raise _in_the_way(work)
    now = work / NOW
    if now.is_symlink() and (chosen := str(now.readlink())) in (OLD, NEW):
        others = NEW if chosen == OLD else OLD
        names, others_names = files.below(work / chosen), files.below(work / others)
        for name in sorted(names | others_names):
            if files.is_inside(out, name) and files.link_of(out / name) == _link_target(name):
                if name in names:
                    _put(work, out / name, work / chosen / name)
                else:
                    (out / name).unlink()
        # Files that only the other output has, and the folders created for them.
        others_names = {name for name in others_names if _is_same(out / name, work / others / name)}
        files.remove(out, others_names)
        files.sync(_listing(out, names | others_names))
        now.unlink()
    shutil.rmtree(work, ignore_errors=True)


def _put(work: Path, path: Path, source: Path | str) -> None:
    """Make `path` a hard link to a file, or a symbolic link to a text."""
    link = work / LINK
    link.unlink(missing_ok=True)
    link.symlink_to(source) if isinstance(source, str) else os.link(source, link)
    link.replace(path)


def _link_target(name: str) -> str:
    """The target of the link that temporarily replaces a file."""
    return f"{'../' * name.count('/')}{WORK_FOLDER}/{NOW}/{name}"


def _is_same(path: Path, other: Path) -> bool:
    """Whether both are one file, or the first is absent."""
    return not path.exists() or path.samefile(other)


def _refuse_obstacles(out: Path, path: Path) -> None:
    """Refuse to write through a link, over a folder or below a file."""
    for each in (*_folders(out, path), path):
        is_usable = os.access(each, os.W_OK) and each.is_dir() and not each.is_symlink()
        if os.path.lexists(each) and (each.is_dir() if each == path else not is_usable):
            raise _in_the_way(each)


def _in_the_way(path: Path) -> InputError:
    hint = "Move it, or choose another folder with --out."
    return InputError(f"{path}: is in the way of the output.", hint=hint)


def _listing(out: Path, names: Iterable[str]) -> set[Path]:
    """The folders that contain these names."""
    own = {name.rpartition("/")[0] for name in names} - {""}
    folders = {folder for name in own for folder in (out / name, *_folders(out, out / name))}
    return {out, *(folder for folder in folders if folder.is_dir())}


def _folders(out: Path, path: Path) -> Sequence[Path]:
    """The folders between the output and a path below it."""
    # Comparing paths takes longer than counting their parts, and there may be thousands.
    return path.parents[: len(path.parts) - len(out.parts) - 1]


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn errors of the system while writing into messages."""
    try:
        yield
    except BlockingIOError:
        raise
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({os.strerror(error.errno or 0)}).", hint=MAKE_ROOM
        ) from error
