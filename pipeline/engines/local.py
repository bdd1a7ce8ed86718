"""Processes of this machine."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from pipeline.engines import Answer, Item
from pipeline.errors import InputError


def answers(
    work: Callable[[Item], Answer], items: Sequence[Item], *, jobs: int
) -> Iterator[Answer]:
    """What a pool of processes answers; a process that dies ends it all."""
    # A fork would copy locks that threads of ours hold.
    fresh = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(jobs, len(items) or 1), mp_context=fresh)
    begun: deque[Future[Answer]] = deque()
    waiting = deque(items)
    try:
        while waiting or begun:
            while waiting and len(begun) < 2 * jobs:
                begun.append(pool.submit(work, waiting.popleft()))
            yield begun.popleft().result()
    except BrokenProcessPool as error:
        raise InputError(
            "a process that reads was ended: it may take more memory than there is.",
            hint="Read with fewer at once, for example: --jobs 2",
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
