"""The files below the inputs, each once, in an order that depends on names alone."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.artifact import COMPRESSIONS, SIDECAR_SUFFIXES
from pipeline.errors import InputError, UsageError
from pipeline.settings import MANIFEST_NAME


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
    if skipped in [path.resolve() for path in absolute]:
        raise UsageError(
            f"{skip}: is the results folder itself.", hint="Choose another folder with --out."
        )
    by_path: dict[Path, Found] = {}
    for path in absolute:
        for file in _files(path, skipped):
            name = _printable(os.path.relpath(file, parent).replace(os.sep, "/"))
            by_path.setdefault(file.resolve(), Found(file.resolve(), name))
    return sorted(by_path.values(), key=lambda found: found.name)


def _refuse_unusable(path: Path) -> None:
    try:
        is_there = path.exists()
        is_open = os.access(path, os.R_OK | (os.X_OK if path.is_dir() else 0))
    except OSError:  # a folder above it is closed to us
        is_there, is_open = True, False
    if not is_there:
        raise InputError(
            f"{path}: no such file or folder.",
            hint="Give the folder that `gym eval run` wrote, or one rollout file.",
        )
    if not is_open:
        raise InputError(f"{path}: cannot be read.", hint="Check its permissions.")


def _files(path: Path, skipped: Path | None) -> Iterator[Path]:
    if path.is_file():
        yield from _with_sidecars(path)
        return
    seen: set[Path] = set()
    unreadable: list[OSError] = []
    for folder, subfolders, names in os.walk(path, followlinks=True, onerror=unreadable.append):
        here = Path(folder).resolve()
        # A link may lead back up; our own output would make a second analysis differ.
        if here in seen or here == skipped or _is_our_output(here):
            subfolders.clear()
            continue
        seen.add(here)
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for name in sorted(names):
            file = Path(folder, name)
            if not name.startswith(".") and file.is_file():
                yield file
    # A folder that cannot be listed is listed itself, to be a reject with its reason.
    yield from (Path(error.filename) for error in unreadable)


def _with_sidecars(path: Path) -> Iterator[Path]:
    """A file named alone brings the sidecars that lie beside it under its name."""
    stem, _ = split_name(path.name)
    beside = {f"{stem}{suffix}" for suffix in SIDECAR_SUFFIXES}
    yield path
    for other in sorted(path.parent.iterdir()):
        if split_name(other.name)[0] in beside and other.is_file():
            yield other


def _is_our_output(folder: Path) -> bool:
    """The folder holds what an analysis wrote."""
    try:
        manifest = json.loads((folder / MANIFEST_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and manifest.get("tool") == "blade"


def split_name(name: str) -> tuple[str, str]:
    """`a/run.jsonl.gz` -> `run`, `.jsonl`: the stem, and the ending below the compression."""
    base = name.rpartition("/")[2]
    for packed in COMPRESSIONS:
        if base.lower().endswith(packed):
            base = base[: -len(packed)]
    stem, dot, ending = base.rpartition(".")
    return (stem, f".{ending.lower()}") if dot and stem else (base, "")


def _printable(name: str) -> str:
    """File names may hold bytes that are not UTF-8; tables and reports cannot."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
