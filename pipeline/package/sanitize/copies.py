"""Copies without what must not be shared, in a folder of their own."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from pipeline import outputs
from pipeline.errors import UsageError
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
    ledger = share.begun(given, earlier)
    names: dict[str, str] = {}
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out}: is a file.", hint="Choose a folder with --out.")
    with outputs.replaced(out, by="sanitize", stale=_of_earlier_call) as beside:
        _of_earlier_call(out)
        changed = _write_below(beside, given, names, policy, ledger)
        unchecked = share.unchecked_names(given, policy, ledger)
        made = log.made(ledger, policy, tuple(names.values()), unchecked, earlier)
        if earlier is not None and not ledger.by_secret:
            shutil.copyfile(given.log, beside / LOG_NAME)
        else:
            outputs.write(beside, {LOG_NAME: log.text(made)})
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
        with outputs.explained(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_cleared:
                shutil.copyfile(source.path, target)
            elif share.write(source, target, name, policy, ledger):
                changed.append(source.name)
    return changed


def _of_earlier_call(out: Path) -> set[str]:
    """The files of an earlier call, to be replaced; a folder with anything else is refused."""
    there = {path.relative_to(out) for path in out.rglob("*") if not path.is_dir()}
    names = {path.as_posix() for path in there if path.parts[0] != outputs.ROOM}
    if not names:
        return set()
    known = {*log.read(out / LOG_NAME).files, LOG_NAME} if LOG_NAME in names else set()
    if strange := sorted(names - known):
        told = f"{out}: holds files that are not of an earlier call, such as {strange[0]}."
        raise UsageError(told, hint="Choose an empty folder with --out: all in it will be shared.")
    return known
