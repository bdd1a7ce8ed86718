"""The data behind a report: a warehouse that is there, or one made of a results folder."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.settings import Settings
from pipeline.warehouse import Warehouse, open_warehouse


@contextmanager
def analyzed(results: Path) -> Iterator[tuple[Warehouse, Path]]:
    """A warehouse of these results and the folder of the analysis; both are gone afterwards."""
    from pipeline.run import run

    with tempfile.TemporaryDirectory(prefix="blade-") as folder:
        analysis = run(Settings(results=(results,), out=Path(folder) / "out"))
        with open_warehouse(analysis.warehouse) as opened:
            yield opened, analysis.out
