"""A warehouse with a file of labels that was written since its analysis, as a file of its own.

Queries that others write run in a process of their own, which opens a file.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import threading
import weakref
from pathlib import Path
from typing import Any

from .. import files, warehouse
from ..errors import InputError
from ..settings import EVENTS_FOLDER, WAREHOUSE_NAME, warehouse_file

READ_BY_THE_ANALYSIS = "select sha256 from raw.files where kind = 'labels'"
NO_ROOM = "Free disk space, or choose another place with TMPDIR."


def write(path: Path, labels: Path, copy: Path) -> None:
    """Write a copy of a warehouse in which this file is the only file of labels."""
    from .rerender import relabel

    try:
        shutil.copyfile(warehouse_file(path), copy)
        events = warehouse.output_folder(path) / EVENTS_FOLDER
        if events.is_dir() and not (copy.parent / EVENTS_FOLDER).exists():
            (copy.parent / EVENTS_FOLDER).symlink_to(events)
    except OSError as error:
        message = f"{path}: cannot be copied ({files.reason_of(error)})."
        raise InputError(message, hint=NO_ROOM) from error
    wanted = [name for name in warehouse.stored(copy) if not name.startswith("raw.")]
    with relabel(path, labels, wanted=wanted) as opened:
        warehouse.write_again(copy, opened)


class Labelled:
    """The warehouse with the labels at hand, copied again when one of the two has changed."""

    def __init__(self, path: Path, labels: Path) -> None:
        self._files = (path, labels)
        self._copy: Path | None = None
        self._stamps: list[Any] = []
        self._turn = threading.Lock()

    def path(self) -> Path:
        """The copy; the warehouse itself where its analysis has read the same labels, or none."""
        with self._turn:
            stamps = [files.stamp(each) for each in self._files]
            if stamps != self._stamps:
                self._read()
                self._stamps = stamps
            return self._files[0] if self._copy is None else self._copy

    def _read(self) -> None:
        path, labels = self._files
        self._stamps = []
        if not labels.is_file() or _are_known(path, labels):
            self._copy = None
            return
        if self._copy is None:
            folder = Path(tempfile.mkdtemp(prefix="blade-"))
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            self._copy = folder / WAREHOUSE_NAME
        # Another thread may be about to open the last copy.
        with files.replacement(self._copy) as beside:
            write(path, labels, beside)


def _are_known(path: Path, labels: Path) -> bool:
    """Whether the analysis has read these labels and no others."""
    with warehouse.open_warehouse(path) as opened, warehouse.of_this_version(path):
        known = opened.column(READ_BY_THE_ANALYSIS)
    return known == [hashlib.sha256(labels.read_bytes()).hexdigest()]
