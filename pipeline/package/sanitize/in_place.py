"""Files without what must not be shared, written over those that are there."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from pipeline import outputs
from pipeline.errors import InputError
from pipeline.package.sanitize import log, share
from pipeline.package.sanitize.folder import Source, Survey, root_of, survey
from pipeline.package.sanitize.ledger import Ledger
from pipeline.package.sanitize.log import LOG_NAME
from pipeline.package.sanitize.values import Policy


def in_place(paths: Sequence[Path], policy: Policy) -> share.Shared:
    """Rewrite the files, all of them or none. A name that is private stays: nothing is renamed."""
    with outputs.replaced(root_of(paths), by="sanitize", stale=lambda _: ()) as beside:
        given = survey(paths, policy)
        _refuse_links(given.files)
        earlier = share.earlier_log(given)
        ledger = share.begun(given, earlier)
        names = {s.name: share.clean_name(s.name, policy, ledger) for s in given.files}
        changed = _write_below(beside, given, names, policy, ledger)
        unchecked = share.unchecked_names(given, policy, ledger)
        # The log of a folder goes on telling of files that were not given this time.
        listed = dict.fromkeys((*(earlier.files if earlier else ()), *names.values()))
        made = log.made(ledger, policy, tuple(listed), unchecked, earlier)
        if earlier is None or changed:
            outputs.write(beside, {LOG_NAME: log.text(made)})
        return share.told(given, made, changed, names, ledger)


def _refuse_links(files: Sequence[Source]) -> None:
    for source in files:
        if source.is_link:
            hint = "Give its target, or write copies with --out."
            raise InputError(f"{source.path}: is a link, and is not rewritten.", hint=hint)


def _write_below(
    folder: Path, given: Survey, names: dict[str, str], policy: Policy, ledger: Ledger
) -> list[str]:
    """Write each file that changes below a folder; the names of those."""
    changed = []
    for source in given.files:
        target = folder / source.name
        if source.is_cleared:
            continue
        with outputs.explained(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            if share.write(source, target, names[source.name], policy, ledger):
                shutil.copymode(source.path, target)
                changed.append(source.name)
            else:
                target.unlink()
    return changed
