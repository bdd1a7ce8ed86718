"""A run that is still writing: its results analyzed again whenever they have changed."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pipeline.errors import InputError
from pipeline.run import SILENT, Analysis, Progress, run
from pipeline.settings import Settings

# Results that are never quiet are analyzed all the same, this often.
MOST_QUIETS = 10


def analyses(
    settings: Settings, *, interval: float, quiet: float, progress: Progress = SILENT
) -> Iterator[Analysis]:
    """One after the other, for ever; an input that cannot be used yet is waited for."""
    seen: object = None
    settings = replace(settings, is_growing=True)
    while True:
        now = _settled(settings, quiet)
        if now != seen:
            seen = now
            try:
                yield run(settings, progress=progress)
            except InputError as error:
                progress.note(f"waiting: {error}")
        time.sleep(interval)


def _settled(settings: Settings, quiet: float) -> object:
    """What the files look like once nothing has been written for a while."""
    now = _look(settings)
    for _ in range(MOST_QUIETS):
        time.sleep(quiet)
        before, now = now, _look(settings)
        if now == before:
            break
    return now


def _look(settings: Settings) -> dict[str, tuple[int, int]]:
    """Every file of the results with its size and time; those of the output are none of them."""
    inputs = [*settings.results, *(path for _, path in settings.run_names)]
    out = os.path.realpath(settings.out)
    found: dict[str, tuple[int, int]] = {}
    for top in inputs:
        listed = os.walk(top) if top.is_dir() else [(str(top.parent), [], [top.name])]
        for folder, below, names in listed:
            below[:] = [name for name in below if os.path.realpath(Path(folder, name)) != out]
            for name in names:
                path = Path(folder, name)
                try:
                    told = path.stat()
                except OSError:
                    continue
                found[str(path)] = (told.st_size, told.st_mtime_ns)
    return found
