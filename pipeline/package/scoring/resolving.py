"""Which citations exist in a warehouse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from pipeline.citation import Citation

ROLLOUT = """
select 1 from rollouts
where run_id = ? and task_id = ? and rollout_index = ? limit 1
"""
EVENT = """
select 1 from events
where run_id = ? and task_id = ? and rollout_index = ? and seq = ? limit 1
"""
LARGEST_INDEX = 2**31 - 1


class Rows(Protocol):
    """What a query returns."""

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows."""


class Source(Protocol):
    """A warehouse that can be asked."""

    def execute(self, query: str, parameters: list[Any]) -> Rows:
        """The rows of a query."""


def resolver(source: Source) -> Callable[[Citation], bool]:
    """A test that says of a citation whether its rollout, and its event, is recorded."""
    known: dict[Citation, bool] = {}

    def resolves(cited: Citation) -> bool:
        if cited not in known:
            known[cited] = _exists(source, cited)
        return known[cited]

    return resolves


def _exists(source: Source, cited: Citation) -> bool:
    if max(cited.rollout_index, cited.seq or 0) > LARGEST_INDEX:
        return False
    key: list[Any] = [cited.run_id, cited.task_id, cited.rollout_index]
    if cited.seq is None:
        return bool(source.execute(ROLLOUT, key).fetchall())
    return bool(source.execute(EVENT, [*key, cited.seq]).fetchall())
