"""Where shards are read: in processes of this machine, or as tasks of a Ray cluster.

An engine takes a function and what to call it with, and gives the answers in that order. It
knows nothing of what is read; what is worked on at once is bounded, so that answers do not pile up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Engine = Callable[[Callable[[Item], Answer], Sequence[Item]], Iterator[Answer]]

NAMES = ("local", "ray")
# One process cuts lines as fast as so many threads read them.
THREADS_FED = 8


def engine(name: str, *, jobs: int | None, address: str) -> Engine[Any, Any] | None:
    """The one of this name; none where the threads of one process do it faster."""
    if name == "ray":
        from pipeline.engines import ray

        return partial(ray.answers, address=address)
    if jobs is None or jobs <= THREADS_FED:
        return None
    from pipeline.engines import local

    return partial(local.answers, jobs=jobs)
