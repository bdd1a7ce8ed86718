"""Which files are given: each once, by its name below what they have in common."""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import InputError, UsageError
from pipeline.files import MOST_BYTES, TOO_LARGE
from pipeline.package.layout import CACHE
from pipeline.package.sanitize.log import LOG_NAME
from pipeline.package.sanitize.policy import FILE_NAME as POLICY_NAME
from pipeline.package.sanitize.values import Policy, Unchecked

HEAD = 1 << 16
ROWS = (".jsonl", ".ndjson", ".json")
WIDE = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class Source:
    """A file: where it is, what it is called below the root, and how it is taken."""

    path: Path
    name: str
    is_link: bool = False
    is_cleared: bool = False  # the policy lets it through unread


@dataclass(frozen=True)
class Survey:
    """What stands below the given paths. Policies are left out: they hold what is private."""

    root: Path
    files: tuple[Source, ...]
    unchecked: tuple[Unchecked, ...]
    policies: tuple[str, ...]

    @property
    def log(self) -> Path:
        """Where the log of an earlier call stands, or would."""
        return self.root / LOG_NAME


def survey(paths: Sequence[Path], policy: Policy) -> Survey:
    """All files below the paths, in the order of their names."""
    root = root_of(paths)
    found: dict[Path, Source | Unchecked] = {}
    policies: set[str] = set()
    for given in paths:
        for path in _files(Path(os.path.abspath(given))):
            name = path.relative_to(root).as_posix()
            if path.name == POLICY_NAME:
                policies.add(name)
            elif path != root / LOG_NAME:
                found[path] = _taken(path, name, policy)
    ordered = sorted(found.values(), key=_name)
    return Survey(
        root=root,
        files=tuple(item for item in ordered if isinstance(item, Source)),
        unchecked=tuple(item for item in ordered if isinstance(item, Unchecked)),
        policies=tuple(sorted(policies)),
    )


def root_of(paths: Sequence[Path]) -> Path:
    """The folder that all paths have in common; where one leads nowhere they are refused."""
    for path in paths:
        _refuse_absent(path)
    absolute = [Path(os.path.abspath(path)) for path in paths]
    return Path(os.path.commonpath([p if p.is_dir() else p.parent for p in absolute]))


def refuse_inside(out: Path, paths: Sequence[Path]) -> None:
    """Copies must not stand among what is copied."""
    target = out.resolve()
    for path in paths:
        given = path.resolve()
        if given == target or given in target.parents:
            hint = "Choose a folder elsewhere, or leave --out away to rewrite the files in place."
            raise UsageError(f"{out}: lies in {path}, which is to be copied.", hint=hint)


def _name(item: Source | Unchecked) -> str:
    return item.name if isinstance(item, Source) else item.file


def _refuse_absent(path: Path) -> None:
    try:
        is_there = path.exists()
    except OSError:
        is_there = False
    if not is_there:
        hint = "Give files, or folders with reports, sidecars and rollouts."
        raise InputError(f"{path}: no such file or folder.", hint=hint)


def _files(given: Path) -> Iterator[Path]:
    if not given.is_dir():
        yield given
        return
    unreadable: list[OSError] = []
    for folder, subfolders, names in os.walk(given, onerror=unreadable.append):
        here = Path(folder)
        # Of a repository's own folder, and of one that a link leads to, there is one entry.
        whole = [n for n in subfolders if n == ".git" or (here / n).is_symlink()]
        subfolders[:] = sorted(n for n in subfolders if n not in whole and n != CACHE)
        yield from (here / name for name in sorted([*names, *whole]))
    yield from (Path(error.filename) for error in unreadable)


def _taken(path: Path, name: str, policy: Policy) -> Source | Unchecked:
    is_link = path.is_symlink()
    patterns = policy.allow.files
    names = (name, path.name)
    is_cleared = any(fnmatch.fnmatchcase(n, p) for n in names for p in patterns)
    if is_cleared and path.is_file():
        return Source(path, name, is_link, is_cleared=True)
    reason = _hindrance(path)
    return Unchecked(name, reason) if reason else Source(path, name, is_link)


def _hindrance(path: Path) -> str:
    """Why nothing can be said about a file; nothing where something can."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            linked = "a link to a folder, which is not followed"
            return linked if path.is_symlink() else "a folder that is not read"
        if not stat.S_ISREG(mode):
            return "not a regular file"
        if path.suffix.lower() == ".json" and path.stat().st_size > MOST_BYTES:
            return f"{TOO_LARGE}, and a document is read whole"
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        return "a link that leads nowhere" if path.is_symlink() else f"{error.strerror}"
    return "" if _is_text(head, path.suffix.lower()) else "not text: what it holds is not known"


def _is_text(head: bytes, suffix: str) -> bool:
    """Rows may hold stray bytes; anything else is UTF-8, or not text."""
    if head.startswith(WIDE):
        return False
    if suffix in ROWS:
        return head.count(0) * 20 <= len(head)
    if b"\0" in head:
        return False
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        # The head may end inside a character.
        return error.start > len(head) - 4 and len(head) == HEAD
    return True
