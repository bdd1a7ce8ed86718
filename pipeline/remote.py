"""Results by pattern or URL: files of an object store are copied into the output folder first."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
from collections.abc import Callable, Sequence
from glob import glob, has_magic
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from . import files
from .errors import InputError, UsageError
from .extras import install_hint

CACHE_NAME = ".blade_cache"
INDEX_NAME = ".index.json"
MISSING = "reading a URL needs a library that is not installed."


def local(
    names: Sequence[str], out: Path, note: Callable[[str], None] = lambda _words: None
) -> tuple[Path, ...]:
    """Local paths of paths, patterns and URLs."""
    paths: list[Path] = []
    for name in names:
        if "://" in name:
            paths.append(_copy(name, out, note))
        elif has_magic(name) and not os.path.lexists(name):
            matched = sorted(glob(name, recursive=True))  # noqa: PTH207 (also absolute ones)
            if not matched:
                raise InputError(f"{name}: nothing matches.", hint="Check the pattern.")
            paths += map(Path, matched)
        else:
            paths.append(Path(name))
    return tuple(paths)


def n_bytes(folder: Path) -> int:
    return sum((folder / name).lstat().st_size for name in files.below(folder))


def copies(out: Path) -> set[str]:
    """All copied files in an output folder, as listed by their indexes, and the indexes."""
    cache = out / CACHE_NAME
    indexes = {name for name in files.below(cache) if PurePosixPath(name).match(f"*/{INDEX_NAME}")}
    places = [f"{CACHE_NAME}/{PurePosixPath(name).parent}" for name in indexes]
    return {f"{place}/{name}" for place in places for name in (*_index(out / place), INDEX_NAME)}


def _install_hint() -> str:
    return f"{install_hint('remote')} and the driver of the store"


def _copy(url: str, out: Path, note: Callable[[str], None]) -> Path:
    """Copy the files below a URL, except those already copied; returns the local path."""
    try:
        fsspec: Any = importlib.import_module("fsspec")
    except ImportError as error:
        raise UsageError(MISSING, hint=_install_hint()) from error
    shown = _public(url)
    try:
        store, top = fsspec.core.url_to_fs(url)
        listed = _files(store, top)
    except (ImportError, ValueError) as error:  # no driver, or no such protocol
        raise UsageError(f"{shown}: {error}.", hint=_install_hint()) from error
    except Exception as error:  # every driver has errors of its own
        raise InputError(f"{shown}: cannot be listed ({_reason(error)}).") from error
    if not listed:
        raise InputError(f"{shown}: no files found.", hint="Check the address.")
    base = re.split(r"[*?\[]", top)[0].rpartition("/")[0] if has_magic(top) else top.rstrip("/")
    place = f"{CACHE_NAME}/{hashlib.sha256(url.encode()).hexdigest()[:16]}"
    folder = out / place
    is_file = list(listed) == [base]
    title = PurePosixPath(base).name or "results"
    _refuse_links(out, f"{place}/{title}")
    index = _index(folder)
    fingerprints: dict[str, str] = {}
    for path, info in listed.items():
        below = PurePosixPath(path[len(base) :].lstrip("/"))
        if ".." in below.parts:
            continue
        name = title if is_file else str(title / below)
        fingerprint = _fingerprint(info)
        if index.get(name) != fingerprint or not files.is_own(folder / name):
            note(f"fetching {shown}: {below if below.name else title}")
            _refuse_links(out, f"{place}/{name}")
            _fetch(store, path, folder / name, shown)
        fingerprints[name] = fingerprint
    files.remove(folder, index.keys() - fingerprints.keys())
    with files.replacement(folder / INDEX_NAME) as beside:
        beside.write_text(json.dumps(fingerprints), encoding="utf-8")
    return folder / title


def _refuse_links(out: Path, name: str) -> None:
    if not files.is_inside(out, name):
        hint = "Remove the link, or choose another folder with --out."
        raise InputError(f"{out / name}: a link on the way leads elsewhere.", hint=hint)


def _files(store: Any, top: str) -> dict[str, Any]:
    """Every file below a path, with its details from the store."""
    if has_magic(top):
        listed = store.glob(top, detail=True)
        return {path: info for path, info in sorted(listed.items()) if info["type"] == "file"}
    if store.isfile(top):
        return {top.rstrip("/"): store.info(top)}
    return dict(sorted(store.find(top, detail=True).items()))


def _fetch(store: Any, path: str, copy: Path, shown: str) -> None:
    try:
        copy.parent.mkdir(parents=True, exist_ok=True)
        with files.replacement(copy) as beside:
            store.get_file(path, str(beside))
    except Exception as error:
        raise InputError(f"{shown}: cannot be fetched ({_reason(error)}).") from error


def _fingerprint(info: Any) -> str:
    """A value that changes with the file: its ETag or hash, else its size and time."""
    known = [info.get(name) for name in ("ETag", "etag", "md5Hash", "mtime", "LastModified")]
    known.append(info.get("created") if not any(known) else None)
    return json.dumps([info.get("size"), *known], default=str)


def _index(folder: Path) -> dict[str, str]:
    """The files copied earlier by this user; empty if a name points outside the folder."""
    if not files.is_own(folder / INDEX_NAME):
        return {}
    try:
        read = json.loads(files.content(folder / INDEX_NAME))
    except (files.UnreadableError, ValueError, RecursionError):
        return {}
    is_usable = isinstance(read, dict) and all(files.is_inside(folder, name) for name in read)
    return read if is_usable else {}


def _public(url: str) -> str:
    """The URL without credentials and parameters."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _reason(error: Exception) -> str:
    return files.reason_of(error) if isinstance(error, OSError) else type(error).__name__
