"""Run items in processes of this machine."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from ..errors import InputError
from . import Answer, Item


def answers(
    work: Callable[[Item], Answer], items: Sequence[Item], *, jobs: int
) -> Iterator[Answer]:
    """The answers of a pool of processes; if a process dies, all are stopped."""
    # A fork would copy locks held by other threads.
    fresh = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(jobs, len(items) or 1), mp_context=fresh)
    running: deque[Future[Answer]] = deque()
    waiting = deque(items)
    try:
        while waiting or running:
            while waiting and len(running) < 2 * jobs:
                running.append(pool.submit(work, waiting.popleft()))
            yield running.popleft().result()
    except BrokenProcessPool as error:
        raise InputError(
            "a reading process was killed, perhaps because memory ran out.",
            hint="Use fewer processes, for example: --jobs 2",
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
