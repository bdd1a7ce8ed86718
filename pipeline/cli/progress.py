"""An analysis that a command runs: how far it is, on stderr, and its output for the occasion."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from pipeline import run
from pipeline.run import Analysis, Progress
from pipeline.settings import Settings
from pipeline.text import neutral


@contextmanager
def analyzed(*results: Path) -> Iterator[Analysis]:
    """An analysis of these results; it is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="blade-") as folder:
        settings = Settings(results=results, out=Path(folder) / "out")
        with shown_progress() as progress:
            analysis = run.run(settings, progress=progress)
        yield analysis


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Drawn on a terminal, and gone at the end; elsewhere a plain line per stage."""
    if sys.stderr.isatty():
        with _drawn() as progress:
            yield progress
    else:
        # Lines without times: the same analysis says the same.
        yield Progress(stage=_echo, note=_echo)


def _echo(words: str) -> None:
    click.echo(neutral(words), err=True)


@contextmanager
def _drawn() -> Iterator[Progress]:
    from rich import progress as drawn
    from rich.console import Console, Group
    from rich.live import Live

    stages = drawn.Progress(
        drawn.SpinnerColumn(), drawn.TextColumn("{task.description}", markup=False)
    )
    reading = drawn.Progress(drawn.BarColumn(), drawn.DownloadColumn(), drawn.TransferSpeedColumn())
    now = stages.add_task("", total=None)
    bar = reading.add_task("", total=None, visible=False)

    def stage(words: str) -> None:
        stages.update(now, description=neutral(words))
        reading.update(bar, visible=False)

    def read(n_read: int, n_all: int) -> None:
        reading.update(bar, advance=n_read, total=n_all, visible=True)

    console = Console(stderr=True)
    with Live(Group(stages, reading), console=console, transient=True):
        yield Progress(
            stage, read, lambda words: console.print(neutral(words), markup=False, highlight=False)
        )
