"""A question that is ended where it takes too long."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

T = TypeVar("T")


def in_time(answer: Callable[[], T], seconds: float, *, interrupt: Callable[[], None]) -> T:
    """Answer on another thread: a query that runs on the main one may never see Ctrl-C."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        running: Future[T] = Future()
        try:
            running = pool.submit(answer)
            return running.result(timeout=seconds)
        except (TimeoutError, KeyboardInterrupt):
            # An interrupt between two fetches is not seen by the next.
            while not running.cancel() and not running.done():
                interrupt()
                wait([running], timeout=0.1)
            raise
