"""Files -> the same files without private texts, in place or as copies."""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ... import files, outputs
from ...errors import InputError, UsageError
from ..blocks import edited
from . import placeholders as logs
from . import policy as policies
from .detect import is_json, spans
from .placeholders import Entry, Log, Placeholders
from .policy import FILE_NAME, LOG_NAME, Policy

HEAD = 1 << 16
ROWS = (".jsonl", ".ndjson")
WIDE = (b"\xff\xfe", b"\xfe\xff")
# Lines of prose are read together: a key, or a name, may go over several. The blocks of a file
# are the same on every run, since no line comes or goes.
LINES, MOST_KEY_LINES = 64, 400
# What is left may look private only once its surroundings are gone.
MOST_ROUNDS = 8
KEY_START = re.compile(rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY|PuTTY-User-Key-File-")
KEY_END = re.compile(rb"-----END [A-Z0-9 ]{0,40}PRIVATE KEY|Private-MAC:")


@dataclass(frozen=True)
class Source:
    """A file by its name below the root; `reason` says why it cannot be checked."""

    path: Path
    name: str
    is_cleared: bool  # the policy lets it through unread
    reason: str = ""

    @property
    def suffix(self) -> str:
        return self.path.suffix.lower()


@dataclass
class Survey:
    """The files below the given paths, without policies, which contain what is private."""

    root: Path
    files: list[Source] = field(default_factory=list)
    unchecked: list[Source] = field(default_factory=list)
    policies: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Shared:
    """What was taken out, the files that changed, and those with new names."""

    survey: Survey
    entries: list[Entry]
    changed: list[str]
    renamed: list[str]


def read_policy(path: Path | None) -> Policy:
    """The policy in a file, if there is one, or what a log says was cleared."""
    if path is None:
        return Policy()
    is_log = path.name == LOG_NAME
    return policies.of_log(logs.read(path).policy, path) if is_log else policies.read(path)


def survey(paths: Sequence[Path], policy: Policy) -> Survey:
    """All files below the paths, each once, in the order of their names."""
    result = Survey(_root(paths))
    every = [path for each in paths for path in _below(Path(os.path.abspath(each)))]
    by_name = {path.relative_to(result.root).as_posix(): path for path in every}
    for name, path in sorted(by_name.items()):
        if path.name == FILE_NAME:
            result.policies.append(name)
        elif name != LOG_NAME:
            allowed = policy.allow.files
            is_cleared = any(fnmatch.fnmatchcase(n, p) for n in (name, path.name) for p in allowed)
            is_cleared = is_cleared and path.is_file()
            source = Source(path, name, is_cleared, "" if is_cleared else _hindrance(path))
            (result.unchecked if source.reason else result.files).append(source)
    return result


def check(survey: Survey, policy: Policy) -> list[Entry]:
    """What is private, without writing: of each file its name (line 0), then its lines."""
    placeholders = Placeholders()
    for source in survey.files:
        _named(source.name, policy, placeholders, put_as=source.name)
        for first, content in _blocks(source):
            _sanitized(content, first, source.name, policy, placeholders)
    return placeholders.entries


def rewrite(paths: Sequence[Path], policy: Policy, out: Path | None = None) -> Shared:
    """Write all files without private texts, or none: in place, or as copies in a folder.

    In place a name that is private stays; what cannot be checked is not copied.
    """
    if out is None:
        with outputs.replaced(_root(paths), by="sanitize", stale=lambda _: ()) as beside:
            # Now the leftovers of a killed call are gone.
            return _written(beside, survey(paths, policy), policy, is_copy=False)
    surveyed = survey(paths, policy)
    for path in map(Path.resolve, paths):
        if path == out.resolve() or path in out.resolve().parents:
            hint = "Choose a folder elsewhere, or leave --out away to rewrite the files in place."
            raise UsageError(f"{out}: is in {path}, which is to be copied.", hint=hint)
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out}: is a file.", hint="Choose a folder with --out.")
    with outputs.replaced(out, by="sanitize", stale=_of_earlier_call) as beside:
        return _written(beside, surveyed, policy, is_copy=True)


def _written(folder: Path, surveyed: Survey, policy: Policy, *, is_copy: bool) -> Shared:
    """Write each file and the log below a folder; in place only the files that change."""
    log_file = surveyed.root / LOG_NAME
    earlier = logs.read(log_file) if log_file.is_file() else None
    # Numbers begin above all in the files, their names or their log.
    taken = [*(source.path for source in surveyed.files), *([log_file] if earlier else [])]
    placeholders = Placeholders(
        logs.highest_seen(taken, " ".join(each.name for each in surveyed.files))
    )
    names: dict[str, str] = {}
    changed = []
    for source in surveyed.files:
        if source.path.is_symlink() and not is_copy:
            hint = "Give its target, or write copies with --out."
            raise InputError(f"{source.path}: is a link, and is not rewritten.", hint=hint)
        name = names[source.name] = _named(source.name, policy, placeholders)
        if is_copy and [*names.values()].count(name) > 1:
            message = f"{source.path}: would be called {name}, as another file is."
            raise UsageError(message, hint="Rename one of them, or copy them one by one.")
        if is_copy:
            _named(source.name, policy, placeholders, put_as=name)
        target = folder / (name if is_copy else source.name)
        with outputs.explained(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source.path, target)
            shutil.copymode(source.path, target)
            is_changed = False
            with target.open("r+b" if source.is_cleared else "wb") as file:
                for first, content in _blocks(source):
                    clean = _sanitized(content, first, name, policy, placeholders)
                    is_changed = is_changed or clean != content
                    file.write(clean)
            if is_changed:
                changed.append(source.name)
            elif not is_copy:
                target.unlink()
    if earlier is None or placeholders.entries:
        # In place the log keeps the files that were not given this time.
        known = earlier.files if earlier else {}
        listed = {*names.values(), *(() if is_copy else known)}
        counts = {
            n: Counter(placeholders.files.get(n, {})) + Counter(known.get(n, {})) for n in listed
        }
        redactions = (*(earlier.redactions if earlier else ()), *placeholders.entries)
        unchecked = [
            {"file": _named(each.name, policy, placeholders), "reason": each.reason}
            for each in surveyed.unchecked
        ]
        outputs.write(folder, {LOG_NAME: Log(policy.summary(), redactions, counts).text(unchecked)})
    elif is_copy:
        shutil.copyfile(log_file, folder / LOG_NAME)
    renamed = [name for name, shown in names.items() if name != shown]
    return Shared(surveyed, placeholders.entries, changed, renamed)


def _blocks(source: Source) -> Iterator[tuple[int, bytes]]:
    """Parts of a file that are checked separately, each with the number of its first line."""
    size = 1 if source.suffix in ROWS else LINES
    first, block, is_open = 1, [], False
    try:
        with source.path.open("rb") as file:
            if source.suffix == ".json" and not source.is_cleared:
                yield 1, file.read()
            for number, line in enumerate(() if source.is_cleared else file, 1):
                block.append(line)
                # The line breaks of a row's strings are escaped: a key ends in it.
                is_row = size == 1 and line.lstrip()[:1] == b"{"
                if not is_row:
                    is_open = _is_key_open(line, is_open=is_open)
                if number % size == 0 and (not is_open or len(block) > size + MOST_KEY_LINES):
                    yield first, b"".join(block)
                    first, block, is_open = number + 1, [], False
            if block:
                yield first, b"".join(block)
    except OSError as error:
        raise InputError(f"{source.path}: cannot be read: {error.strerror}.") from error


def _is_key_open(line: bytes, *, is_open: bool) -> bool:
    """Whether a private key continues after a line."""
    starts = [match.start() for match in KEY_START.finditer(line)]
    ends = [match.start() for match in KEY_END.finditer(line)]
    return max(starts) > max(ends, default=-1) if starts else is_open and not ends


def _sanitized(
    content: bytes, first: int, file: str, policy: Policy, placeholders: Placeholders
) -> bytes:
    """A block with placeholders for private texts; the number of lines stays the same."""
    text = content.decode("utf-8", "surrogateescape")
    is_document = is_json(text)
    for _ in range(MOST_ROUNDS):
        edits, last, line = [], 0, first
        for span in spans(text, policy, is_json=is_document):
            line, last = line + text.count("\n", last, span.start), span.start
            shown = placeholders.put(span, file, line, text[span.end : span.end + 1])
            n_breaks = text.count("\n", span.start, span.end)
            edits.append((span.start, span.end, shown + "\n" * n_breaks))
        if not edits:
            break
        text = edited(text, edits)
    return text.encode("utf-8", "surrogateescape")


def _named(name: str, policy: Policy, placeholders: Placeholders, *, put_as: str = "") -> str:
    """A file's name without private texts, in characters that names of runs may have."""
    parts = []
    for part in PurePosixPath(name).parts:
        edits = []
        for span in spans(part, policy):
            joint = "_" if part[span.end : span.end + 1].isdigit() else ""
            edits.append((span.start, span.end, placeholders.entry(span).bare + joint))
            if put_as:
                placeholders.put(span, put_as, 0)
        parts.append(edited(part, edits))
    return "/".join(parts)


def _root(paths: Sequence[Path]) -> Path:
    """The folder that all paths have in common; an error if one does not exist."""
    for path in paths:
        if not os.path.exists(path):  # noqa: PTH110  a path too long is an error to the other
            hint = "Give files, or folders with reports, sidecars and rollouts."
            raise InputError(f"{path}: no such file or folder.", hint=hint)
    absolute = [Path(os.path.abspath(path)) for path in paths]
    return Path(os.path.commonpath([p if p.is_dir() else p.parent for p in absolute]))


def _of_earlier_call(out: Path) -> set[str]:
    is_listed = files.is_own(out / LOG_NAME)
    known = {*logs.read(out / LOG_NAME).files, LOG_NAME} if is_listed else set()
    hint = "Choose an empty folder with --out: all in it will be shared."
    return outputs.of_earlier_call(out, known, by="call", hint=hint)


def _below(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    unreadable: list[OSError] = []
    for folder, subfolders, names in os.walk(path, onerror=unreadable.append):
        here = Path(folder)
        # Of a repository's own folder, and of one that a link leads to, there is one entry.
        whole = [n for n in subfolders if n == ".git" or (here / n).is_symlink()]
        subfolders[:] = [n for n in subfolders if n not in whole]
        yield from (here / name for name in [*names, *whole])
    yield from (Path(error.filename) for error in unreadable)


def _hindrance(path: Path) -> str:
    """Why a file cannot be checked; empty if it can."""
    try:
        if path.is_dir():
            linked = "a link to a folder, which is not followed"
            return linked if path.is_symlink() else "a folder that is not read"
        if files.not_plain(path.stat().st_mode):
            return "not a regular file"
        is_rows = path.suffix.lower() in (*ROWS, ".json")
        if path.suffix.lower() == ".json" and path.stat().st_size > files.MOST_BYTES:
            return f"{files.TOO_LARGE}, and a document is read whole"
        with path.open("rb") as file:
            head = file.read(HEAD)
        # Rows may hold stray bytes; the head may end inside a character.
        is_text = not head.startswith(WIDE) and head.count(0) * 20 <= len(head) * is_rows
        head.decode("utf-8", "replace" if is_rows else "strict")
    except OSError as error:
        return "a broken link" if path.is_symlink() else f"{error.strerror}"
    except UnicodeDecodeError as error:
        is_text = error.start > HEAD - 4
    return "" if is_text else "not text: what it holds is not known"
