"""Text outputs: written in a folder beside, and moved into place when the whole output is made.

What an earlier analysis wrote and this one does not is removed, by the list that it left.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pipeline.settings import MANIFEST_NAME

BESIDE = ".texts.building"


@contextmanager
def prepared(out: Path) -> Iterator[Path]:
    """An empty folder to write to; gone on leaving, whatever happened."""
    beside = out / BESIDE
    shutil.rmtree(beside, ignore_errors=True)
    try:
        yield beside
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def write(beside: Path, texts: Mapping[str, str]) -> None:
    """Each text to its path below the folder."""
    for folder in {(beside / name).parent for name in texts}:
        folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (beside / name).write_text(text, encoding="utf-8", newline="\n")


def put_in_place(beside: Path, out: Path, names: Iterable[str]) -> None:
    """Move what was written over what was there: a reader sees an old file or a new one."""
    names = set(names)
    stale = _listed(out) - names
    for folder in {(out / name).parent for name in names}:
        folder.mkdir(parents=True, exist_ok=True)
    for name in sorted(names):
        (beside / name).replace(out / name)
    for name in sorted(stale):
        _remove(out, name)


def _listed(out: Path) -> set[str]:
    """What the manifest of an earlier analysis names as written."""
    try:
        manifest = json.loads((out / MANIFEST_NAME).read_text(encoding="utf-8"))
        return {name for name in manifest["outputs"] if isinstance(name, str)}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _remove(out: Path, name: str) -> None:
    """One file below `out`, and the folder of its run when that is empty; nothing else."""
    path = out / name
    if ".." in path.parts or out not in path.parents:
        return
    path.unlink(missing_ok=True)
    if path.parent != out and path.parent.is_dir() and not any(path.parent.iterdir()):
        path.parent.rmdir()
