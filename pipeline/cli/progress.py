"""How far an analysis is, on stderr: drawn on a terminal, a plain line a stage elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from pipeline.run import Progress
from pipeline.text import neutral


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Whom to tell; what a terminal was shown is gone at the end."""
    if sys.stderr.isatty():
        with _drawn() as progress:
            yield progress
    else:
        # Lines without times: the same analysis says the same.
        yield Progress(stage=lambda words: click.echo(neutral(words), err=True))


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

    with Live(Group(stages, reading), console=Console(stderr=True), transient=True):
        yield Progress(stage, read)
