"""The files below the inputs, each once, in an order that depends on names alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import InputError
from pipeline.settings import WAREHOUSE_NAME


@dataclass(frozen=True)
class Found:
    """A file: where it is, and its name below the inputs' common parent."""

    path: Path
    name: str


def walk(inputs: list[Path], *, skip: Path | None = None) -> list[Found]:
    """All regular files below the inputs; hidden ones and our own output are left out."""
    for path in inputs:
        _refuse_unusable(path)
    absolute = [Path(os.path.abspath(path)) for path in inputs]
    parent = Path(os.path.commonpath([p if p.is_dir() else p.parent for p in absolute]))
    skipped = skip.resolve() if skip is not None else None
    by_path: dict[Path, Found] = {}
    for path in absolute:
        for file in _files(path, skipped):
            name = _printable(os.path.relpath(file, parent).replace(os.sep, "/"))
            by_path.setdefault(file.resolve(), Found(file.resolve(), name))
    return sorted(by_path.values(), key=lambda found: found.name)


def _refuse_unusable(path: Path) -> None:
    if not path.exists():
        raise InputError(
            f"{path}: no such file or folder.",
            hint="Give the folder that `gym eval run` wrote, or one rollout file.",
        )
    if not os.access(path, os.R_OK | (os.X_OK if path.is_dir() else 0)):
        raise InputError(f"{path}: cannot be read.", hint="Check its permissions.")


def _files(path: Path, skipped: Path | None) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    seen: set[Path] = set()
    for folder, subfolders, names in os.walk(path, followlinks=True):
        here = Path(folder).resolve()
        # A link may lead back up; our own output would make a second analysis differ.
        if here in seen or here == skipped or (WAREHOUSE_NAME in names and here != path.resolve()):
            subfolders.clear()
            continue
        seen.add(here)
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for name in sorted(names):
            file = Path(folder, name)
            if not name.startswith(".") and file.is_file():
                yield file


def _printable(name: str) -> str:
    """File names may hold bytes that are not UTF-8; tables and reports cannot."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
