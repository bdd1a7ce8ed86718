"""Copies without what must not be shared, in a folder of their own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pipeline.errors import InputError, UsageError
from pipeline.package.sanitize import log, share
from pipeline.package.sanitize.folder import Survey, refuse_inside, survey
from pipeline.package.sanitize.ledger import Ledger
from pipeline.package.sanitize.log import LOG_NAME
from pipeline.package.sanitize.values import Policy


def copies(paths: Sequence[Path], out: Path, policy: Policy) -> share.Shared:
    """Write copies below a folder; what cannot be checked is not copied."""
    refuse_inside(out, paths)
    given = survey(paths, policy)
    earlier = share.earlier_log(given)
    stale = _replaceable(out)
    ledger = share.begun(given, earlier)
    names: dict[str, str] = {}
    with _prepared(out) as beside:
        changed = _write_below(beside, given, names, policy, ledger)
        unchecked = share.unchecked_names(given, policy, ledger)
        made = log.made(ledger, policy, tuple(names.values()), unchecked, earlier)
        if earlier is not None and not ledger.by_secret:
            shutil.copyfile(given.log, beside / LOG_NAME)
        else:
            (beside / LOG_NAME).write_text(log.text(made), encoding="utf-8", newline="\n")
        _move(beside, out, [*names.values(), LOG_NAME], stale)
    return share.told(given, made, changed, names, ledger)


def _write_below(
    folder: Path, given: Survey, names: dict[str, str], policy: Policy, ledger: Ledger
) -> list[str]:
    """Write every file under its name, noted in `names`; the names of those that changed."""
    changed = []
    for source in given.files:
        name = share.clean_name(source.name, policy, ledger)
        if name in names.values():
            told = f"{source.path}: would be called {name}, as another file is."
            raise UsageError(told, hint="Rename one of them, or copy them one by one.")
        for span in share.name_spans(source.name, policy):
            ledger.put(span, name, 0)
        names[source.name] = name
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_cleared:
            shutil.copyfile(source.path, target)
        elif share.write(source, target, name, policy, ledger):
            changed.append(source.name)
    return changed


def _replaceable(out: Path) -> set[str]:
    """The files of an earlier call that may be replaced; a folder with anything else is refused."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out}: is a file.", hint="Choose a folder with --out.")
    shutil.rmtree(out / share.BESIDE, ignore_errors=True)
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
    beside = out / share.BESIDE
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
