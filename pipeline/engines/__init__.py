"""Where files are read: in processes of this machine, or as tasks of a Ray cluster.

An engine calls a function for each item and yields the answers in order. The number of items in
progress is bounded, so that answers do not pile up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Engine = Callable[[Callable[[Item], Answer], Sequence[Item]], Iterator[Answer]]

NAMES = ("local", "ray")
# One process splits lines fast enough for this many reading threads.
THREADS_FED = 8


def engine(name: str, *, jobs: int | None, address: str) -> Engine[Any, Any] | None:
    """The engine of this name; None if threads of one process are faster."""
    if name == "ray":
        from . import ray

        return partial(ray.answers, address=address)
    if jobs is None or jobs <= THREADS_FED:
        return None
    from . import local

    return partial(local.answers, jobs=jobs)
