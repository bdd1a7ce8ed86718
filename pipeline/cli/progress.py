"""A progress bar on stderr, where stderr is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int], None]]:
    """A callback that takes the bytes just read and the bytes in all."""
    if not sys.stderr.isatty():
        yield lambda _read, _all: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("reading"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def advance(n_read: int, n_all: int) -> None:
            bar.update(task, advance=n_read, total=n_all)

        yield advance
