"""Text outputs: written in a folder beside, and moved into place when the whole output is made.

What an earlier analysis wrote and this one does not is removed, by the list that it left.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pipeline import files
from pipeline.errors import InputError
from pipeline.settings import MANIFEST_NAME, WAREHOUSE_NAME

BESIDE = ".texts.building"
# Nothing else is ours to remove, even if a manifest lists it.
OURS = re.compile(r"(runs/[A-Za-z0-9_-][A-Za-z0-9._-]*/)?(report\.(md|html)|metrics\.json)")


def refuse_unusable(out: Path) -> None:
    """Say what is in the way before anything takes time: a folder for a file, a file for one."""
    for name, is_folder in ((WAREHOUSE_NAME, False), (BESIDE, True), ("runs", True)):
        path = out / name
        if path.exists() and path.is_dir() != is_folder:
            raise InputError(
                f"{path}: is in the way of the output.",
                hint="Move it, or choose another folder with --out.",
            )


@contextmanager
def prepared(out: Path) -> Iterator[Path]:
    """An empty folder to write to; gone on leaving, even after an error."""
    beside = out / BESIDE
    shutil.rmtree(beside, ignore_errors=True)
    try:
        yield beside
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def leftovers(out: Path) -> list[str]:
    """What an analysis that was killed left; the next one removes it."""
    return [BESIDE] if (out / BESIDE).exists() else []


def write(beside: Path, out: Path, texts: Mapping[str, str]) -> None:
    """Each text to its path below the folder, once it is sure that it can be moved from there."""
    for name in texts:
        _refuse_unusable(out, out / name)
    for folder in {(beside / name).parent for name in texts}:
        folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        # Only a template of the user's can bring along what no file can hold.
        (beside / name).write_text(text, encoding="utf-8", newline="\n", errors="backslashreplace")


def put_in_place(beside: Path, out: Path, names: Iterable[str]) -> None:
    """Move what was written over what was there: a reader sees an old file or a new one."""
    names = set(names)
    stale = _listed(out) - names
    for folder in {(out / name).parent for name in names}:
        folder.mkdir(parents=True, exist_ok=True)
    for name in sorted(names):
        (beside / name).replace(out / name)
    for name in sorted(stale):
        _remove(out, out / name)


def _refuse_unusable(out: Path, path: Path) -> None:
    """Nothing is written through a link, over a folder or below a file."""
    for folder in _below(out, path):
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise InputError(
                f"{folder}: is in the way of the output.",
                hint="Move it, or choose another folder with --out.",
            )
    if path.is_dir():
        raise InputError(
            f"{path}: is a folder, and a file is to be written there.",
            hint="Move it, or choose another folder with --out.",
        )


def _below(out: Path, path: Path) -> list[Path]:
    return [parent for parent in path.parents if out in parent.parents]


def _listed(out: Path) -> set[str]:
    """What the manifest of an earlier analysis names as written, and is ours by its name."""
    try:
        manifest = json.loads(files.content(out / MANIFEST_NAME))
        return {name for name in manifest["outputs"] if OURS.fullmatch(name)}
    except (files.UnreadableError, ValueError, KeyError, TypeError, RecursionError):
        return set()


def _remove(out: Path, path: Path) -> None:
    """One file below `out`, and the folder of its run when that is empty; nothing else."""
    if path.is_dir() or any(folder.is_symlink() for folder in _below(out, path)):
        return
    path.unlink(missing_ok=True)
    if path.parent != out and path.parent.is_dir() and not any(path.parent.iterdir()):
        path.parent.rmdir()
