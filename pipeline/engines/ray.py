"""Run items as tasks of a Ray cluster, which schedules and retries them."""

from __future__ import annotations

import importlib
import os
import socket
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..errors import BladeError, InputError, UsageError
from ..extras import install_hint
from . import Answer, Item

MISSING = "the engine ray needs a library that is not installed."
START = "Start one with: ray start --head, or leave out --address for one on this machine"
# The cluster of RAY_ADDRESS, or the one that runs on this machine.
ANY_CLUSTER = "auto"
CONNECT_SECONDS = 5.0
# Only tasks whose node or process is lost are retried.
RETRIES = 5
# Tasks that wait in memory, per core of the cluster.
AHEAD = 2


def answers(
    work: Callable[[Item], Answer], items: Sequence[Item], *, address: str
) -> Iterator[Answer]:
    """The answers of the tasks. If one fails for good, all are stopped."""
    if not items:
        return
    try:
        # A cluster that we start sends no usage statistics.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        ray: Any = importlib.import_module("ray")
    except ImportError as error:
        raise UsageError(MISSING, hint=install_hint("ray")) from error
    is_ours = not ray.is_initialized()
    if is_ours:
        _connect(ray, address)
    try:
        task = ray.remote(work).options(num_cpus=1, max_retries=RETRIES)
        most = AHEAD * max(int(ray.cluster_resources().get("CPU", 1)), 1)
        running: deque[tuple[Item, Any]] = deque()
        waiting = deque(items)
        while waiting or running:
            while waiting and len(running) < most:
                running.append((waiting[0], task.remote(waiting.popleft())))
            item, answer = running.popleft()
            yield _answer(ray, item, answer)
    finally:
        if is_ours:
            ray.shutdown()


def _connect(ray: Any, address: str) -> None:
    """Connect to a cluster. If none is named and none runs, start one on this machine.

    It ends with the connection.
    """
    named = os.environ.get("RAY_ADDRESS") if address == ANY_CLUSTER else address
    if named is not None and not _is_reachable(named):
        raise UsageError(f"no Ray cluster answers at {named!r}.", hint=START)
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if named is None and (ended := _recorded()) and not _is_reachable(ended):
            raise ConnectionError(ended)
        ray.init(address=address, **quiet)
    except (ConnectionError, ValueError, RuntimeError) as error:
        if named is None and isinstance(error, ConnectionError):
            ray.init(address="local", include_dashboard=False, **quiet)
            return
        raise UsageError(f"no Ray cluster answers at {named or address!r}.", hint=START) from error


def _recorded() -> str:
    """The address of the cluster that last ran here, as Ray records it; it may have ended."""
    root = os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()
    with suppress(OSError, UnicodeError):
        return Path(root, "ray", "ray_current_cluster").read_text(encoding="utf-8").strip()
    return ""


def _is_reachable(address: str) -> bool:
    """Whether anything listens there: Ray itself would wait for minutes."""
    try:
        place = urlsplit(address if "://" in address else f"ray://{address}")
        if place.hostname is None or place.port is None:
            return True  # Ray knows other forms of addresses.
        socket.create_connection((place.hostname, place.port), timeout=CONNECT_SECONDS).close()
    except (OSError, ValueError):
        return False
    return True


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
            hint="Check the nodes, for example with: ray status",
        ) from error
