"""Whether an output still matches its inputs, by the record that the last analysis wrote.

The record is in the user's cache folder: an output contains neither times nor paths, and somebody
else may have written it. Inputs that cannot be proven unchanged are read again.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from . import files, outputs, provenance, report, user_cache
from .artifact import Artifact
from .profile import Profile
from .settings import SQL_DIR, Settings, data_folder

# A file written twice within one tick of the file system's clock keeps its time.
FINE_STEP = 50_000_000
WHOLE_SECONDS = 1_000_000_000
COARSE_STEP = 2_000_000_000
# Real path, device, inode, size, and the times of the last change of content and of state.
Stamp = list[Any]
# The part of a stamp that stays the same when a file is moved.
OF_CONTENT = slice(1, 5)


@dataclass(frozen=True)
class Inputs:
    """What an analysis depends on: a digest of all settings, and the files."""

    choices: str
    artifacts: Sequence[Artifact]
    stamps: Sequence[Stamp | None]
    began_ns: int
    has_pages: bool


def inputs(
    artifacts: Sequence[Artifact], chosen: Profile, settings: Settings, *, has_pages: bool
) -> Inputs:
    """What an analysis depends on, recorded before any file is read."""
    began_ns = time.time_ns()
    named = [
        [os.path.realpath(path) for path in settings.results],
        [[name, os.path.realpath(path)] for name, path in settings.run_names],
    ]
    choices = [
        *program(),
        provenance.command(chosen, settings),
        repr(chosen),
        chosen.name and hashlib.sha256(files.content(Path(chosen.name))).hexdigest(),
        report.replaced(settings.templates),
        settings.is_growing,
        settings.is_whole,
        has_pages,
        named,
        # Paths are part of the stamps.
        [repr(replace(artifact, path=Path(), beside=())) for artifact in artifacts],
    ]
    stamps = [_stamp_of(each) for each in artifacts]
    return Inputs(_digest(choices), artifacts, stamps, began_ns, has_pages)


def is_current(out: Path, now: Inputs, *, by_content: bool) -> bool:
    """Whether the output is what an analysis would write now, and nobody has touched it."""
    record = user_cache.read(out)
    # A killed analysis left its work folder, which the next one must clean up.
    if not isinstance(record, dict) or os.path.lexists(out / outputs.WORK_FOLDER):
        return False
    placed = record.get("outputs")
    if not placed or placed != {name: _stamp(out / name) for name in placed}:
        return False
    if by_content:
        contents = _digest_of_contents(now, map(_sha256, now.artifacts))
        return contents is not None and contents == record.get("contents")
    return bool(record.get("stamps") == _digest([now.choices, *now.stamps]))


def written(folder: Path) -> dict[str, Stamp | None]:
    """The stamps of the new files, before they are moved into place."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): _stamp(path) for path in paths}


def remember(
    out: Path,
    before: Inputs,
    new_files: dict[str, Stamp | None],
    contents: Sequence[str | None],
) -> None:
    """Record what an output depends on, unless it or its inputs changed in the meantime."""
    stamps = [_stamp_of(artifact) for artifact in before.artifacts]
    placed = {name: _stamp(out / name) for name in new_files}
    if stamps != before.stamps or not all(
        new and (now := placed[name]) and new[OF_CONTENT] == now[OF_CONTENT]
        for name, new in new_files.items()
    ):
        return
    are_old_enough = all(stamp and _is_older(stamp, before.began_ns) for stamp in stamps)
    record = {
        "stamps": _digest([before.choices, *stamps]) if are_old_enough else None,
        "contents": _digest_of_contents(before, contents),
        "outputs": placed,
    }
    user_cache.write(out, record)


def _is_older(stamp: Stamp, than_ns: int) -> bool:
    """Whether a file was last changed before that time, given the resolution of its clock."""
    changed_ns: int = max(stamp[-2:])
    return changed_ns < than_ns - (FINE_STEP if changed_ns % WHOLE_SECONDS else COARSE_STEP)


def _digest_of_contents(now: Inputs, hashes: Iterable[str | None]) -> str | None:
    """None if a file was not read, or not to its end."""
    known = list(hashes)
    return None if None in known else _digest([now.choices, *known])


def _stamp_of(artifact: Artifact) -> Stamp | None:
    # A link that is not followed is identified by itself.
    return _stamp(artifact.path, is_followed=artifact.skipped is None)


def _stamp(path: Path, *, is_followed: bool = True) -> Stamp | None:
    try:
        state = path.stat(follow_symlinks=is_followed)
    except OSError:
        return None
    real = os.path.realpath(path) if is_followed else str(path.absolute())
    times = (state.st_mtime_ns, state.st_ctime_ns)
    return [real, state.st_dev, state.st_ino, state.st_size, *times]


def _sha256(artifact: Artifact) -> str | None:
    """The hash of a regular file that is not skipped: reading a pipe could block."""
    try:
        if artifact.skipped or not stat.S_ISREG(artifact.path.stat().st_mode):
            return None
        with artifact.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def program() -> tuple[str, dict[str, str]]:
    """The program's own digest and the versions of what it is run with."""
    return _code(), provenance.versions()


def _code() -> str:
    """A digest of the program: any of its files may change what it makes of the results."""
    folders = (Path(__file__).parent, SQL_DIR, data_folder("report_templates"))
    return _digest(
        [path.name, hashlib.sha256(path.read_bytes()).hexdigest()]
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.parent.name != "__pycache__"
    )


def _digest(values: Iterable[object]) -> str:
    return hashlib.sha256(json.dumps(list(values), default=str).encode()).hexdigest()
