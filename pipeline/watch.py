"""A run that is still writing: its results analyzed again whenever they have changed."""

from __future__ import annotations

import errno
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
FULL = (errno.ENOSPC, errno.EDQUOT)
# What the engine says of a full disk: that it is one, or that nothing more can be spilled to it.
FULL_WORDS = (*(os.strerror(number) for number in FULL), "max_temp_directory_size")


def analyses(
    settings: Settings, *, interval: float, quiet: float, progress: Progress = SILENT
) -> Iterator[Analysis]:
    """One after the other, for ever; an input that cannot be used yet is waited for.

    Where the disk is full, or another analysis holds the folder, it is tried again each time.
    """
    seen, note = None, ""
    settings = replace(settings, is_growing=True)
    while True:
        now = _settled(settings, quiet)
        if now != seen:
            try:
                analysis = run(settings, progress=progress)
            except Exception as error:
                if not isinstance(error, InputError) and not _is_passing(error):
                    raise
                seen = None if _is_passing(error) else now
                if note != f"waiting: {error}":
                    note = f"waiting: {error}"
                    progress.note(note)
            else:
                seen, note = now, ""
                yield analysis
        time.sleep(interval)


def _is_passing(error: BaseException | None) -> bool:
    """Whether the same analysis may succeed later: the disk is full, or the folder is held."""
    is_known = isinstance(error, BlockingIOError) or getattr(error, "errno", None) in FULL
    is_known = is_known or any(words in str(error) for words in FULL_WORDS)
    return is_known or (error is not None and _is_passing(error.__cause__))


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
