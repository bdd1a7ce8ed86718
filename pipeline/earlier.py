"""What an earlier analysis left: whether its output still stands, and which files it had read.

What it was made from lies in its warehouse, and no output may hold a time: the files themselves
bear the one at which it began. A file has not changed since whose size and beginning are the same
and whose times, also that of its last renaming, lie before.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import duckdb

import pipeline
from pipeline import outputs, provenance, report
from pipeline.artifact import Artifact
from pipeline.ingest.load.kept import Earlier
from pipeline.profile import Profile
from pipeline.relation import create_table
from pipeline.settings import MANIFEST_NAME, SQL_DIR, WAREHOUSE_NAME, Settings, data_folder

BEGINNING_BYTES = 4096
# Written twice within a step of the file system's clock, a file keeps its time.
FINE_STEP, WHOLE_SECONDS, COARSE_STEP = 50_000_000, 1_000_000_000, 2_000_000_000


@dataclass(frozen=True)
class Stamp:
    """What tells two states of a file apart without reading it whole."""

    n_bytes: int
    begins: str
    changed_ns: int

    def is_older(self, than_ns: int) -> bool:
        """Whether the file was last changed before that time, as far as its clock tells."""
        return self.changed_ns < than_ns - (
            FINE_STEP if self.changed_ns % WHOLE_SECONDS else COARSE_STEP
        )


@dataclass(frozen=True)
class Origin:
    """What an analysis is made from: how lines are read, all else that was chosen, the files."""

    reader: str
    choices: str
    stamps: dict[str, Stamp]
    taken_ns: int


def origin(found: list[Artifact], chosen: Profile, settings: Settings) -> Origin:
    """What an analysis would be made from now; looked at before anything is read."""
    taken_ns = time.time_ns()
    reader = [_code(), provenance.versions(), settings.max_line_bytes]
    named = [
        [artifact.name, artifact.kind, artifact.run_name, artifact.package, artifact.format]
        for artifact in found
    ]
    said = [
        provenance.command(chosen, settings),
        repr(chosen),
        report.replaced(settings.templates),
        settings.is_growing,
        named,
    ]
    stamps = {artifact.name: _stamp(artifact) for artifact in found}
    return Origin(_key(reader), _key(said), stamps, taken_ns)


def write(db: duckdb.DuckDBPyConnection, made: Origin) -> None:
    """Into the warehouse, without times."""
    create_table(db, "raw.origin", "reader varchar, choices varchar", [(made.reader, made.choices)])
    rows = [(name, stamp.n_bytes, stamp.begins) for name, stamp in sorted(made.stamps.items())]
    create_table(db, "raw.stamps", "path varchar, n_bytes bigint, begins varchar", rows)


def date(folder: Path, made: Origin) -> None:
    """Give all that was written the time at which the analysis began."""
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, ns=(made.taken_ns, made.taken_ns))


@dataclass(frozen=True)
class Left:
    """An output in place, by its warehouse: what it was made from, and when."""

    out: Path
    reader: str
    choices: str
    stamps: dict[str, tuple[int, str]]
    taken_ns: int

    def stands(self, now: Origin, *, has_pages: bool) -> bool:
        """Whether it is what an analysis would make now, and nobody has touched it."""
        pages = {*outputs.listed(self.out), MANIFEST_NAME} if has_pages else set()
        names = {WAREHOUSE_NAME, *pages}
        return (
            (self.reader, self.choices) == (now.reader, now.choices)
            and self.stamps.keys() == now.stamps.keys()
            and self.unchanged(now) == now.stamps.keys()
            # Left by one that was killed, for the next to tidy up.
            and not (self.out / outputs.ROOM).exists()
            and all(_time(self.out / name) == self.taken_ns for name in names)
        )

    def unchanged(self, now: Origin) -> set[str]:
        """The files that are as they were."""
        return {
            name
            for name, stamp in now.stamps.items()
            if self.stamps.get(name) == (stamp.n_bytes, stamp.begins)
            and stamp.is_older(self.taken_ns)
        }

    def lines(self, now: Origin, *, is_rehashed: bool) -> Earlier | None:
        """What need not be read again, where the same reader has read it."""
        unchanged = frozenset() if is_rehashed else frozenset(self.unchanged(now))
        path = self.out / WAREHOUSE_NAME
        return Earlier(path, unchanged) if self.reader == now.reader else None


def left_in(out: Path) -> Left | None:
    """What an analysis left there; nothing where it cannot be read, or was written otherwise."""
    path = out / WAREHOUSE_NAME
    if not path.is_file():
        return None
    try:
        with duckdb.connect(str(path), read_only=True) as db:
            ((reader, choices),) = db.execute("from raw.origin").fetchall()
            stamps = {name: (n, begins) for name, n, begins in db.sql("from raw.stamps").fetchall()}
    except (duckdb.Error, ValueError):
        return None
    return Left(out, reader, choices, stamps, _time(path))


def _time(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return -1


def _stamp(artifact: Artifact) -> Stamp:
    """Of what is not opened, or cannot be, what its place tells; where nothing can, never old."""
    path, begins = artifact.path, ""
    try:
        told = path.lstat() if artifact.skipped else path.stat()
        # A pipe may never answer, and a link may lead out of the results.
        if not artifact.skipped and stat.S_ISREG(told.st_mode):
            with path.open("rb") as file:
                begins = hashlib.sha256(file.read(BEGINNING_BYTES)).hexdigest()
    except OSError:
        return Stamp(-1, "", time.time_ns())
    return Stamp(told.st_size, begins, max(told.st_mtime_ns, told.st_ctime_ns))


def _code() -> str:
    """The program itself: what it makes of a file may change with any of its own."""
    folders = (Path(pipeline.__file__).parent, SQL_DIR, data_folder("report_templates"))
    return _key(
        [path.name, hashlib.sha256(path.read_bytes()).hexdigest()]
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.parent.name != "__pycache__"
    )


def _key(values: Iterable[object]) -> str:
    return hashlib.sha256(json.dumps(list(values), default=str).encode()).hexdigest()
