"""Paths -> what must go of them, or copies and files without it, moved into place together."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pipeline.errors import InputError, UsageError
from pipeline.package.sanitize import detect, log
from pipeline.package.sanitize.folder import LOG_NAME, Source, Survey, refuse_inside, survey
from pipeline.package.sanitize.ledger import Ledger, highest_seen, taken
from pipeline.package.sanitize.rewrite import Block, sanitized, screened
from pipeline.package.sanitize.values import Finding, Policy, Unchecked

BESIDE = ".sanitizing"


@dataclass(frozen=True)
class Shared:
    """What was written: the log, the files that changed, and those whose own name is private."""

    survey: Survey
    log: log.RedactionLog
    changed: tuple[str, ...]
    renamed: tuple[str, ...]
    counted: Counter[str]  # by kind, what this call took out


def findings(paths: Sequence[Path], policy: Policy) -> Iterator[Finding]:
    """What must go below these paths; nothing is written."""
    yield from survey_findings(survey(paths, policy), policy)


def survey_findings(given: Survey, policy: Policy) -> Iterator[Finding]:
    """The same of a survey: of each file first its name (line 0), then its lines."""
    ledger = Ledger()
    for source in given.files:
        _named(source.name, policy, ledger, told=source.name)
        if not source.is_cleared:
            for block in _screened(source, policy):
                sanitized(block, source.name, policy, ledger)
                yield from taken(ledger)
        yield from taken(ledger)


def in_place(paths: Sequence[Path], policy: Policy) -> Shared:
    """Rewrite the files, all of them or none. A name that is private stays: nothing is moved."""
    given = survey(paths, policy)
    for source in given.files:
        if source.is_link:
            hint = "Give its target, or write copies with --out."
            raise InputError(f"{source.path}: is a link, and is not rewritten.", hint=hint)
    earlier = _earlier(given)
    ledger = _begun(given, earlier)
    written: dict[Path, Path] = {}
    changed: list[str] = []
    names: dict[str, str] = {}
    try:
        for source in given.files:
            shown = names[source.name] = _named(source.name, policy, ledger)
            beside = source.path.with_name(f".{source.path.name}{BESIDE}")
            written[beside] = source.path
            if source.is_cleared or not _write(source, beside, shown, policy, ledger):
                beside.unlink(missing_ok=True)
                del written[beside]
                continue
            shutil.copymode(source.path, beside)
            changed.append(source.name)
        unchecked = _unchecked(given, policy, ledger)
        # The log of a folder goes on telling of files that were not given this time.
        told = dict.fromkeys((*(earlier.files if earlier else ()), *names.values()))
        made = log.made(ledger, policy, tuple(told), unchecked, earlier)
        if earlier is None or ledger.by_secret:
            beside = given.root / f".{LOG_NAME}{BESIDE}"
            written[beside] = given.log
            beside.write_text(log.text(made), encoding="utf-8", newline="\n")
        for beside, target in written.items():
            beside.replace(target)
        written.clear()
    except OSError as error:
        raise InputError(f"{error.filename}: cannot be written: {error.strerror}.") from error
    finally:
        for beside in written:
            beside.unlink(missing_ok=True)
    renamed = tuple(name for name, shown in names.items() if name != shown)
    return Shared(given, made, tuple(changed), renamed, _counted(ledger))


def copies(paths: Sequence[Path], out: Path, policy: Policy) -> Shared:
    """Write copies below a folder of their own; what cannot be checked is not copied."""
    refuse_inside(out, paths)
    given = survey(paths, policy)
    earlier = _earlier(given)
    stale = _replaceable(out)
    ledger = _begun(given, earlier)
    names: dict[str, str] = {}
    changed: list[str] = []
    with _prepared(out) as beside:
        for source in given.files:
            name = _named(source.name, policy, ledger)
            if name in names.values():
                told = f"{source.path}: would be called {name}, as another file is."
                raise UsageError(told, hint="Rename one of them, or copy them one by one.")
            names[source.name] = name
            target = beside / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_cleared:
                shutil.copyfile(source.path, target)
            elif _write(source, target, name, policy, ledger):
                changed.append(source.name)
        unchecked = _unchecked(given, policy, ledger)
        made = log.made(ledger, policy, tuple(names.values()), unchecked, earlier)
        if earlier is not None and not ledger.by_secret:
            shutil.copyfile(given.log, beside / LOG_NAME)
        else:
            (beside / LOG_NAME).write_text(log.text(made), encoding="utf-8", newline="\n")
        _move(beside, out, [*names.values(), LOG_NAME], stale)
    renamed = tuple(name for name, shown in names.items() if name != shown)
    return Shared(given, made, tuple(changed), renamed, _counted(ledger))


def _counted(ledger: Ledger) -> Counter[str]:
    total: Counter[str] = Counter()
    for entry in ledger.by_secret.values():
        total[entry.kind] += entry.count
    return total


def _earlier(given: Survey) -> log.RedactionLog | None:
    return log.read(given.log) if given.log.is_file() else None


def _begun(given: Survey, earlier: log.RedactionLog | None) -> Ledger:
    """A ledger whose numbers begin above all that stand in the files or in their log."""
    files = [source.path for source in given.files]
    return Ledger(highest_seen([*files, given.log] if earlier else files))


def _screened(source: Source, policy: Policy) -> Iterator[Block]:
    try:
        yield from screened(source.path, policy)
    except OSError as error:
        raise InputError(f"{source.path}: cannot be read: {error.strerror}.") from error


def _write(source: Source, target: Path, name: str, policy: Policy, ledger: Ledger) -> bool:
    """Write a file's blocks without what must go; say whether any changed."""
    changed = False
    with target.open("wb") as file:
        for block in _screened(source, policy):
            clean = sanitized(block, name, policy, ledger)
            taken(ledger)
            changed = changed or clean != block.content
            file.write(clean)
    return changed


def _named(name: str, policy: Policy, ledger: Ledger, *, told: str = "") -> str:
    """A file's name without what must go, in the letters that names of runs are made of.

    The ledger notes it under the name `told`, by default the new one.
    """
    parts, found = [], []
    for part in PurePosixPath(name).parts:
        kept, last = "", 0
        for span in detect.spans(part, policy):
            found.append(span)
            joint = "_" if part[span.end : span.end + 1].isdigit() else ""
            kept += part[last : span.start] + ledger.entry(span).bare + joint
            last = span.end
        parts.append(kept + part[last:])
    shown = "/".join(parts)
    for span in found:
        ledger.put(span, told or shown, 0)
    return shown


def _unchecked(given: Survey, policy: Policy, ledger: Ledger) -> list[Unchecked]:
    """What could not be read, as the log may tell of it."""
    return [Unchecked(_named(u.file, policy, ledger), u.reason) for u in given.unchecked]


def _replaceable(out: Path) -> set[str]:
    """The files of an earlier call that may be replaced; a folder with anything else is refused."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out}: is a file.", hint="Choose a folder with --out.")
    shutil.rmtree(out / BESIDE, ignore_errors=True)
    below = out.rglob("*") if out.is_dir() else ()
    there = {path.relative_to(out).as_posix() for path in below if not path.is_dir()}
    if not there:
        return set()
    known = {*log.read(out / LOG_NAME).files, LOG_NAME} if LOG_NAME in there else set()
    if strange := sorted(there - known):
        told = f"{out}: holds files that are not of an earlier call, such as {strange[0]}."
        raise UsageError(told, hint="Choose an empty folder with --out: all in it will be shared.")
    return known


@contextmanager
def _prepared(out: Path) -> Iterator[Path]:
    beside = out / BESIDE
    is_new = not out.exists()
    try:
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(parents=True)
        yield beside
    except OSError as error:
        raise InputError(f"{error.filename}: cannot be written: {error.strerror}.") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
        if is_new and out.is_dir() and not any(out.iterdir()):
            out.rmdir()


def _move(beside: Path, out: Path, names: Sequence[str], stale: set[str]) -> None:
    for name in names:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (beside / name).replace(out / name)
    for name in sorted(stale - set(names)):
        (out / name).unlink(missing_ok=True)
