"""The whole flow in one place: results folder in, output folder out."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from pipeline import __version__, discover, load, warehouse
from pipeline.artifact import Artifact
from pipeline.errors import InputError
from pipeline.load.records import Progress
from pipeline.settings import MANIFEST_NAME, SQL_DIR, WAREHOUSE_NAME, Settings
from pipeline.warehouse import Notice

AMPLE_MEMORY = "6GB"


@dataclass(frozen=True)
class Analysis:
    """What an analysis wrote, and what a reader should know of it."""

    out: Path
    warnings: tuple[Notice, ...]

    @property
    def warehouse(self) -> Path:
        """The warehouse file."""
        return self.out / WAREHOUSE_NAME


def run(settings: Settings, *, progress: Progress = lambda _read, _all: None) -> Analysis:
    """Results in, output out; once more with ample memory where rows turn out to be very long."""
    found = discover.artifacts(settings.results, run_names=settings.run_names, out=settings.out)
    try:
        return _build(found, settings, progress)
    except duckdb.OutOfMemoryException:
        # Reading a row takes many times its length, and only reading it shows how long it is.
        ample = replace(settings, memory_limit=AMPLE_MEMORY, threads=1)
    try:
        return _build(found, ample, progress)
    except duckdb.OutOfMemoryException as error:
        raise InputError(
            f"a row is too long to be read in {AMPLE_MEMORY} of memory.",
            hint="Leave such rows out, for example with: --max-line-bytes 1000000",
        ) from error


def _build(found: list[Artifact], settings: Settings, progress: Progress) -> Analysis:
    """Load, build the relations, check them; then put the new output in place."""
    path = settings.out / WAREHOUSE_NAME
    with warehouse.build(path, memory_limit=settings.memory_limit, threads=settings.threads) as db:
        warehouse.create_macros(db, SQL_DIR)
        load.artifacts(db, found, settings, progress=progress)
        warehouse.create_relations(db, SQL_DIR)
        warnings = warehouse.run_checks(db)
        manifest = _manifest(db, settings)
    _write(settings.out / MANIFEST_NAME, manifest)
    return Analysis(settings.out, tuple(warnings))


def _manifest(db: duckdb.DuckDBPyConnection, settings: Settings) -> str:
    """Inputs with their hashes, settings and version; no clock, host, user or absolute path."""
    rows = db.execute("select path, kind, n_bytes, sha256 from main.artifacts order by path")
    inputs = [
        dict(zip(("path", "kind", "n_bytes", "sha256"), row, strict=True))
        for row in rows.fetchall()
    ]
    content = {
        "tool": "blade",
        "version": __version__,
        "settings": {
            "benchmark": settings.benchmark,
            "pass_threshold": settings.pass_threshold,
            "max_line_bytes": settings.max_line_bytes,
            "run_names": [name for name, _ in settings.run_names],
        },
        "inputs": inputs,
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _write(path: Path, text: str) -> None:
    """Beside, then renamed: a reader sees the old file or the new one, never half of it."""
    beside = path.with_name(f".{path.name}.building")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)
