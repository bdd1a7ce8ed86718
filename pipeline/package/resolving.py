"""Which citations exist in a warehouse."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from pipeline.citation import Citation
from pipeline.report import Source

# An attempt that was expected exists though nothing of it was recorded; an event must be there.
EXISTING = """
with asked as (
    select unnest(?::varchar[]) as run_id, unnest(?::varchar[]) as task_id,
        unnest(?::bigint[]) as rollout_index, unnest(?::bigint[]) as seq,
        unnest(?::bigint[]) as place
),
attempts as (
    select run_id, task_id, rollout_index from rollouts
    union
    select run_id, task_id, rollout_index from failures
    union
    select run_id, task_id, rollout_index from expected
)
select place from asked semi join attempts using (run_id, task_id, rollout_index)
where seq is null
union all
select place from asked semi join events using (run_id, task_id, rollout_index, seq)
where seq is not null
"""
LARGEST = 2**31 - 1


def resolved(source: Source, cited: Sequence[Citation]) -> set[Citation]:
    """Those of many citations that have their rollout, or their event, there."""
    told = [
        each for each in dict.fromkeys(cited) if max(each.rollout_index, each.seq or 0) <= LARGEST
    ]
    columns: list[list[Any]] = [
        [each.run_id for each in told],
        [each.task_id for each in told],
        [each.rollout_index for each in told],
        [each.seq for each in told],
        list(range(len(told))),
    ]
    return {told[place] for (place,) in source.execute(EXISTING, columns).fetchall()}


def resolver(source: Source) -> Callable[[Sequence[Citation]], Collection[Citation]]:
    """The same as a function of a warehouse."""
    return lambda cited: resolved(source, cited)
