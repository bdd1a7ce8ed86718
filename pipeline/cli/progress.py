"""A progress bar on stderr, where stderr is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int], None]]:
    """A callback that takes the step's name and the bytes it just read."""
    if not sys.stderr.isatty():
        yield lambda _step, _bytes: None
        return
    from rich.console import Console
    from rich.progress import (
        DownloadColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TransferSpeedColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("reading {task.description}"),
        DownloadColumn(),
        TransferSpeedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks = {}

        def advance(step: str, n_bytes: int) -> None:
            if step not in tasks:
                tasks[step] = bar.add_task(step, total=None)
            bar.advance(tasks[step], n_bytes)

        yield advance
