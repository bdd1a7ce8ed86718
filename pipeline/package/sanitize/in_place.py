"""Files without what must not be shared, written over those that are there."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from pipeline.errors import InputError
from pipeline.package.sanitize import log, share
from pipeline.package.sanitize.folder import Source, Survey, survey
from pipeline.package.sanitize.ledger import Ledger
from pipeline.package.sanitize.log import LOG_NAME
from pipeline.package.sanitize.values import Policy


def in_place(paths: Sequence[Path], policy: Policy) -> share.Shared:
    """Rewrite the files, all of them or none. A name that is private stays: nothing is renamed."""
    given = survey(paths, policy)
    _refuse_links(given.files)
    earlier = share.earlier_log(given)
    ledger = share.begun(given, earlier)
    names = {s.name: share.clean_name(s.name, policy, ledger) for s in given.files}
    written: dict[Path, Path] = {}
    try:
        changed = _write_beside(given, names, policy, ledger, written)
        unchecked = share.unchecked_names(given, policy, ledger)
        # The log of a folder goes on telling of files that were not given this time.
        listed = dict.fromkeys((*(earlier.files if earlier else ()), *names.values()))
        made = log.made(ledger, policy, tuple(listed), unchecked, earlier)
        if earlier is None or changed:
            beside = given.root / f".{LOG_NAME}{share.BESIDE}"
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
    return share.told(given, made, changed, names, ledger)


def _refuse_links(files: Sequence[Source]) -> None:
    for source in files:
        if source.is_link:
            hint = "Give its target, or write copies with --out."
            raise InputError(f"{source.path}: is a link, and is not rewritten.", hint=hint)


def _write_beside(
    given: Survey,
    names: dict[str, str],
    policy: Policy,
    ledger: Ledger,
    written: dict[Path, Path],
) -> list[str]:
    """Write each file that changes beside itself, noted in `written`; the names of those."""
    changed = []
    for source in given.files:
        beside = source.path.with_name(f".{source.path.name}{share.BESIDE}")
        written[beside] = source.path
        is_read = not source.is_cleared
        if is_read and share.write(source, beside, names[source.name], policy, ledger):
            shutil.copymode(source.path, beside)
            changed.append(source.name)
        else:
            beside.unlink(missing_ok=True)
            del written[beside]
    return changed
