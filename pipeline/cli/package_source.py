"""The data behind a report: a warehouse that is there, or one made of a results folder."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from pipeline.settings import Settings
from pipeline.warehouse import Warehouse, open_warehouse


@contextmanager
def analyzed(*results: Path, is_told: bool = False) -> Iterator[tuple[Warehouse, Path]]:
    """A warehouse of these results and the folder of the analysis; both are gone afterwards.

    Where it `is_told`, stderr shows how far the analysis is.
    """
    from pipeline.cli.progress import shown_progress
    from pipeline.run import SILENT, run

    with tempfile.TemporaryDirectory(prefix="blade-") as folder:
        settings = Settings(results=results, out=Path(folder) / "out")
        with shown_progress() if is_told else nullcontext(SILENT) as progress:
            analysis = run(settings, progress=progress)
        with open_warehouse(analysis.warehouse) as opened:
            yield opened, analysis.out


@contextmanager
def related(results: Path) -> Iterator[Warehouse]:
    """A warehouse of these results without pages; gone afterwards. stderr shows how far it is."""
    from pipeline.cli.progress import shown_progress
    from pipeline.run import part

    with tempfile.TemporaryDirectory(prefix="blade-") as folder:
        settings = Settings(results=(results,), out=Path(folder) / "out")
        with shown_progress() as progress:
            path = part(settings, progress=progress)
        with open_warehouse(path) as opened:
            yield opened


@contextmanager
def glimpsed(
    results: Path, relations: Sequence[str], *, benchmark: str | None = None
) -> Iterator[Warehouse]:
    """A warehouse of these relations alone, by no profile; gone afterwards."""
    from pipeline.run import part

    with tempfile.TemporaryDirectory(prefix="blade-") as folder:
        # An empty profile stands for none, whatever lies beside the results.
        nothing = Path(folder) / "blade.toml"
        nothing.touch()
        out = Path(folder) / "out"
        settings = Settings(results=(results,), out=out, benchmark=benchmark, profile=nothing)
        with open_warehouse(part(settings, relations)) as opened:
            yield opened
