"""Results by pattern or by URL: what lies in an object store is copied beside the output first."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
from collections.abc import Callable, Sequence
from glob import glob, has_magic
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from pipeline.errors import InputError, UsageError
from pipeline.files import reason_of

CACHE_NAME = ".blade_cache"
INDEX_NAME = ".index.json"
MISSING = "a URL is read by a library that is not installed."
INSTALL = "Install it with: pip install 'blade-eval[remote]' and the driver of the store"


def local(
    names: Sequence[str], out: Path, note: Callable[[str], None] = lambda _words: None
) -> tuple[Path, ...]:
    """Paths that can be read here, of paths, patterns and URLs."""
    found: list[Path] = []
    for name in names:
        if "://" in name:
            found.append(_copied(name, out / CACHE_NAME, note))
        elif has_magic(name) and not os.path.lexists(name):
            matched = sorted(glob(name, recursive=True))  # noqa: PTH207 (also absolute ones)
            if not matched:
                raise InputError(f"{name}: nothing matches.", hint="Check the pattern.")
            found += map(Path, matched)
        else:
            found.append(Path(name))
    return tuple(found)


def kept(*folders: Path) -> str:
    """How much is kept in folders to be faster next time."""
    files = (file for folder in folders for file in folder.rglob("*") if file.is_file())
    return f"{sum(file.lstat().st_size for file in files) / 1e6:,.1f} MB"


def _copied(url: str, cache: Path, note: Callable[[str], None]) -> Path:
    """A folder of what lies below a URL, or a file; of an earlier copy what has not changed."""
    try:
        fsspec: Any = importlib.import_module("fsspec")
    except ImportError as error:
        raise UsageError(MISSING, hint=INSTALL) from error
    shown = _public(url)
    try:
        store, top = fsspec.core.url_to_fs(url)
        listed = _files(store, top)
    except (ImportError, ValueError) as error:  # no driver, or no such protocol
        raise UsageError(f"{shown}: {error}.", hint=INSTALL) from error
    except Exception as error:  # every driver has errors of its own
        raise InputError(f"{shown}: cannot be listed ({_reason(error)}).") from error
    if not listed:
        raise InputError(f"{shown}: nothing is there.", hint="Check the address.")
    base = top.rstrip("/") if not has_magic(top) else top[: _magic_at(top)].rpartition("/")[0]
    folder = cache / hashlib.sha256(url.encode()).hexdigest()[:16]
    is_file = list(listed) == [base]
    target = folder / (PurePosixPath(base).name or "results")
    index = _index(folder)
    kept: dict[str, str] = {}
    for path, info in listed.items():
        below = PurePosixPath(path[len(base) :].lstrip("/"))
        if ".." in below.parts:
            continue
        copy = target if is_file else target / below
        mark = _mark(info)
        if index.get(str(below)) != mark or not copy.is_file():
            note(f"fetching {shown}: {below if below.name else copy.name}")
            _fetch(store, path, copy, shown)
        kept[str(below)] = mark
    for gone in index.keys() - kept.keys():
        (target / gone).unlink(missing_ok=True)
    (folder / INDEX_NAME).write_text(json.dumps(kept), encoding="utf-8")
    return target


def _files(store: Any, top: str) -> dict[str, Any]:
    """Every file below, with what the store says of it."""
    if has_magic(top):
        found = store.glob(top, detail=True)
        return {path: info for path, info in sorted(found.items()) if info["type"] == "file"}
    if store.isfile(top):
        return {top.rstrip("/"): store.info(top)}
    return dict(sorted(store.find(top, detail=True).items()))


def _fetch(store: Any, path: str, copy: Path, shown: str) -> None:
    beside = copy.with_name(f".{copy.name}.fetching")
    try:
        copy.parent.mkdir(parents=True, exist_ok=True)
        store.get_file(path, str(beside))
        beside.replace(copy)
    except Exception as error:
        raise InputError(f"{shown}: cannot be fetched ({_reason(error)}).") from error
    finally:
        beside.unlink(missing_ok=True)


def _mark(info: Any) -> str:
    """What changes with a file: the store's own mark, or its size and time."""
    known = [info.get(name) for name in ("ETag", "etag", "md5Hash", "mtime", "LastModified")]
    known.append(info.get("created") if not any(known) else None)
    return json.dumps([info.get("size"), *known], default=str)


def _index(folder: Path) -> dict[str, str]:
    try:
        read = json.loads((folder / INDEX_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


def _magic_at(pattern: str) -> int:
    return min(pattern.index(mark) for mark in "*?[" if mark in pattern)


def _public(url: str) -> str:
    """Without what may be a secret in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _reason(error: Exception) -> str:
    return reason_of(error) if isinstance(error, OSError) else type(error).__name__
