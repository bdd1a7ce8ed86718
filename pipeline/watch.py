"""Analyze results again whenever they change, for runs that are still writing."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from .errors import InputError
from .run import SILENT, Analysis, Progress, run
from .settings import Settings

# Results that keep changing are analyzed after this many quiet periods.
MOST_QUIETS = 10
FULL = (errno.ENOSPC, errno.EDQUOT)
# Messages of DuckDB about a full disk.
FULL_WORDS = (*(os.strerror(number) for number in FULL), "max_temp_directory_size")


def analyses(
    settings: Settings, *, interval: float, quiet: float, progress: Progress = SILENT
) -> Iterator[Analysis]:
    """One analysis after each change, without end; unusable inputs are waited for.

    If the disk is full or another analysis has locked the folder, it is tried again each time.
    """
    seen = None
    note = ""
    settings = replace(settings, is_growing=True)
    while True:
        now = _after_changes(settings, quiet)
        if now != seen:
            try:
                analysis = run(settings, progress=progress)
            except Exception as error:
                if not isinstance(error, InputError) and not _is_temporary(error):
                    raise
                seen = None if _is_temporary(error) else now
                if note != f"waiting: {error}":
                    note = f"waiting: {error}"
                    progress.note(note)
            else:
                seen, note = now, ""
                yield analysis
        time.sleep(interval)


def _is_temporary(error: BaseException | None) -> bool:
    """Whether the same analysis may succeed later: the disk is full, or the folder is locked."""
    is_known = isinstance(error, BlockingIOError) or getattr(error, "errno", None) in FULL
    is_known = is_known or any(words in str(error) for words in FULL_WORDS)
    return is_known or (error is not None and _is_temporary(error.__cause__))


def _after_changes(settings: Settings, quiet: float) -> object:
    """The states of all files, once nothing has been written for a while."""
    now = _file_states(settings)
    for _ in range(MOST_QUIETS):
        time.sleep(quiet)
        before, now = now, _file_states(settings)
        if now == before:
            break
    return now


def _file_states(settings: Settings) -> dict[str, tuple[int, int]]:
    """Size and time of every file of the results, without the files of the output."""
    inputs = [*settings.results, *(path for _, path in settings.run_names)]
    out = os.path.realpath(settings.out)
    files: dict[str, tuple[int, int]] = {}
    for top in inputs:
        listed = os.walk(top) if top.is_dir() else [(str(top.parent), [], [top.name])]
        for folder, below, names in listed:
            below[:] = [name for name in below if os.path.realpath(Path(folder, name)) != out]
            for name in names:
                path = Path(folder, name)
                try:
                    status = path.stat()
                except OSError:
                    continue
                files[str(path)] = (status.st_size, status.st_mtime_ns)
    return files
