"""Files of a package: what is new, what stands there already, and nothing half written."""

from __future__ import annotations

import filecmp
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pipeline import files
from pipeline.errors import InputError
from pipeline.report.marks import CURATE

MOST_LISTED = 10


class Standing(StrEnum):
    """What becomes of a file."""

    NEW = "written"
    REPLACED = "replaced"
    SAME = "as it was"
    KEPT = "kept"


@dataclass(frozen=True)
class File:
    """A file of the package: a text of ours, or a file of the results to copy or link.

    `skeleton` is the text that we wrote before anything was known; it gives way.
    """

    name: str
    content: str | Path
    skeleton: str | None = None

    @property
    def is_draft(self) -> bool:
        """Ours to make again; rollouts never are."""
        return isinstance(self.content, str)


@dataclass(frozen=True)
class Step:
    """A file and what becomes of it."""

    file: File
    standing: Standing


@dataclass(frozen=True)
class Existing:
    """What to do with drafts that are there and differ: refuse, unless one of these is set."""

    keep: bool = False
    force: bool = False


def planned(folder: Path, files: Sequence[File], existing: Existing) -> list[Step]:
    """What becomes of each file; refused as a whole where one would be lost. Nothing is written."""
    _refuse_unusable(folder, files)
    steps = [Step(file, _standing(folder, file, existing)) for file in files]
    differing = [
        step.file
        for step in steps
        if step.standing is Standing.REPLACED and not _is_skeleton(folder, step.file)
    ]
    if existing.force:
        differing = [file for file in differing if not is_replaceable(folder / file.name, file)]
    if differing:
        raise _refusal(folder, differing, existing)
    return steps


def is_replaceable(path: Path, file: File) -> bool:
    """A draft, and no longer one when a person has filled all the places of a skill."""
    if not file.is_draft:
        return False
    if path.name != "SKILL.md":
        return True
    try:
        return CURATE.search(files.content(path).decode("utf-8", "replace")) is not None
    except files.UnreadableError:
        return False


def written(folder: Path, steps: Sequence[Step], *, folders: Sequence[str], link: bool) -> None:
    """Make the folders, then write what is new; each file beside and moved into place."""
    path = folder
    try:
        for path in (folder / name for name in folders):
            path.mkdir(parents=True, exist_ok=True)
        for step in steps:
            if step.standing in (Standing.NEW, Standing.REPLACED):
                path = folder / step.file.name
                _write(path, step.file.content, link=link)
    except OSError as error:
        # The error of a copy may name what is copied.
        raise InputError(
            f"{path}: cannot be written ({error.strerror}).",
            hint="What was written before it is whole; make room or choose another folder, "
            "and run it again.",
        ) from error


def _standing(folder: Path, file: File, existing: Existing) -> Standing:
    path = folder / file.name
    if not os.path.lexists(path):
        return Standing.NEW
    if _is_same(path, file.content):
        return Standing.SAME
    is_kept = existing.keep and file.is_draft and not _is_skeleton(folder, file)
    return Standing.KEPT if is_kept else Standing.REPLACED


def _is_skeleton(folder: Path, file: File) -> bool:
    return file.skeleton is not None and _is_same(folder / file.name, file.skeleton)


def _is_same(path: Path, content: str | Path) -> bool:
    try:
        if isinstance(content, str):
            return files.content(path) == content.encode()
        return path.samefile(content) or filecmp.cmp(path, content, shallow=False)
    except (OSError, files.UnreadableError):
        return False


def _refuse_unusable(folder: Path, files: Sequence[File]) -> None:
    """Nothing is written over a folder or below a file."""
    for path in (folder, *(folder / file.name for file in files)):
        wrong = next((each for each in path.parents if each.exists() and not each.is_dir()), None)
        if wrong is None and path.is_dir() != (path == folder) and path.exists():
            wrong = path
        if wrong is not None:
            raise InputError(
                f"{wrong}: is in the way of the package.",
                hint="Move it, or choose another folder with --benchmark-dir.",
            )


def _refusal(folder: Path, files: Sequence[File], existing: Existing) -> InputError:
    names = [file.name for file in files]
    shown = ", ".join(names[:MOST_LISTED])
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    rollouts = [file for file in files if not file.is_draft]
    if rollouts:
        hint = "Rollouts are never replaced: rename the new file, or move the old one away first."
    elif existing.force:
        hint = "A skill without a place left to curate is no draft: move it away first."
    else:
        hint = "--keep leaves such files as they are, --force replaces drafts."
    told = "is there and differs" if len(names) == 1 else "are there and differ"
    return InputError(f"{folder}: {shown}{more} {told}; nothing was written.", hint=hint)


def _write(path: Path, content: str | Path, *, link: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.writing")
    try:
        if isinstance(content, str):
            beside.write_text(content, encoding="utf-8", newline="\n")
        elif link:
            with suppress(FileNotFoundError):
                beside.unlink()
            beside.symlink_to(os.path.relpath(content.resolve(), path.parent.resolve()))
        else:
            shutil.copyfile(content, beside)
        beside.replace(path)
    finally:
        with suppress(OSError):
            beside.unlink()
