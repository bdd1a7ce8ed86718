"""Tasks of a Ray cluster: where they run, and that they run again, is left to Ray."""

from __future__ import annotations

import importlib
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pipeline.engines import Answer, Item
from pipeline.errors import BladeError, InputError, UsageError

MISSING = "the engine ray needs a library that is not installed."
INSTALL = "Install it with: pip install 'blade-eval[ray]'"
START = "Start one with: ray start --head, or name another with --address HOST:PORT"
# A task that ends by itself is not tried again; one whose node or process is lost is.
RETRIES = 5
# So many for each core of the cluster wait in its memory.
AHEAD = 2


def answers(
    work: Callable[[Item], Answer], items: Sequence[Item], *, address: str
) -> Iterator[Answer]:
    """What the tasks answer. Where one fails for good, all end, and the error names its item."""
    try:
        # A cluster of our own reports to nobody.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        ray: Any = importlib.import_module("ray")
    except ImportError as error:
        raise UsageError(MISSING, hint=INSTALL) from error
    is_ours = not ray.is_initialized()
    if is_ours:
        _connect(ray, address)
    try:
        task = ray.remote(work).options(num_cpus=1, max_retries=RETRIES)
        most = AHEAD * max(int(ray.cluster_resources().get("CPU", 1)), 1)
        begun: deque[tuple[Item, Any]] = deque()
        waiting = deque(items)
        while waiting or begun:
            while waiting and len(begun) < most:
                begun.append((waiting[0], task.remote(waiting.popleft())))
            item, answer = begun.popleft()
            yield _answer(ray, item, answer)
    finally:
        if is_ours:
            ray.shutdown()


def _connect(ray: Any, address: str) -> None:
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise UsageError(f"no Ray cluster answers at {address!r}.", hint=START) from error


def _answer(ray: Any, item: Item, answer: Any) -> Any:
    try:
        return ray.get(answer)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, BladeError):
            raise error.cause from error
        raise InputError(
            f"{item}: could not be read on the cluster ({type(error.cause).__name__}).",
            hint="Every node needs blade, and all of them the same version of it.",
        ) from error
    except ray.exceptions.RayError as error:
        raise InputError(
            f"{item}: could not be read on the cluster ({type(error).__name__}).",
            hint="See what the nodes say, for example with: ray status",
        ) from error
