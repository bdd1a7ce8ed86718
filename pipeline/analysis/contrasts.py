"""The closest passing rollout of each failing one, and the first consequential difference."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from .alignment import Trail, first_divergence, n_shared_first

# Of passing rollouts that begin alike, so many are weighed: repeats may run to a thousand.
MOST_CANDIDATES = 32
# Of tools that one side alone calls; a model may make up any name.
MOST_TOOLS = 20
MOST_TOOL_CHARS = 100

STEPS_AT_ONCE = 100_000

SCHEMA = pa.schema(
    {
        **dict.fromkeys(("task_no", "record_id", "passing_record_id"), pa.int64()),
        "is_closest": pa.bool_(),
        "n_common": pa.int64(),
        "difference": pa.string(),
        **dict.fromkeys(("seq", "passing_seq", "result_seq", "passing_result_seq"), pa.int64()),
        **dict.fromkeys(("skipped_seq", "other_seq"), pa.int64()),
        **dict.fromkeys(("tools_only_failing", "tools_only_passing"), pa.list_(pa.string())),
    }
)
# The steps of a passing rollout, and its place among the repeats.
Beginning = tuple[tuple[int, ...], int]


@dataclass(frozen=True)
class Rollout:
    """A rollout with the places of its steps among its events; 0 where there is no result.

    `acts` are the steps that have consequences: by them rollouts are compared first.
    """

    task_no: int
    is_flip: bool
    record_id: int
    index: int
    is_pass: bool
    seqs: Sequence[int]
    result_seqs: Sequence[int]
    trail: Trail
    acts: Trail
    # The places of the acts among all steps.
    places: Sequence[int]


def contrasts(steps: pa.Table) -> pa.Table:
    """One row for each failing rollout, from the steps of all that are to be contrasted.

    Of a task that flipped between two runs there is only the closest pair.
    """
    parts = [_contrasted(part) for part in _parts(steps)]
    return pa.concat_tables([SCHEMA.empty_table(), *parts])


def _parts(steps: pa.Table) -> Iterator[pa.Table]:
    """The steps of whole tasks, so many that their values fit into a little memory at once."""
    if steps.num_rows == 0:
        return
    start = 0
    for end in [*np.flatnonzero(_changes(steps, "task_no")).tolist(), steps.num_rows]:
        if end - start >= STEPS_AT_ONCE or end == steps.num_rows:
            yield steps.slice(start, end - start)
            start = end


def _contrasted(steps: pa.Table) -> pa.Table:
    rows: list[dict[str, Any]] = []
    for _, own in groupby(_rollouts(steps), key=lambda rollout: rollout.task_no):
        repeats = list(own)
        passing = [rollout for rollout in repeats if rollout.is_pass]
        ordered = sorted((rollout.acts.steps, number) for number, rollout in enumerate(passing))
        matches = [
            (rollout, *_closest(rollout, passing, ordered))
            for rollout in repeats
            if not rollout.is_pass
        ]
        closest = min(rank for _, _, rank in matches)
        rows += [
            _row(failing, chosen, is_closest=rank == closest)
            for failing, chosen, rank in matches
            if rank == closest or not failing.is_flip
        ]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _rollouts(steps: pa.Table) -> Iterator[Rollout]:
    """The rows of each rollout as one value; a rollout without steps has a row without seq."""
    # A rollout may end one task and begin the next.
    starts = np.flatnonzero(_changes(steps, "task_no") | _changes(steps, "record_id"))
    ends = [*starts[1:].tolist(), steps.num_rows]
    names = ("task_no", "is_flip", "record_id", "rollout_index", "is_pass")
    heads = [steps[name].to_numpy()[starts].tolist() for name in names]
    seqs, result_seqs, calls, codes = (
        steps[name].to_numpy().tolist() for name in ("seq", "result_seq", "call", "step")
    )
    tools = steps["tool"].to_pylist()
    matters = steps["is_consequential"].to_pylist()
    for *head, start, end in zip(*heads, starts.tolist(), ends, strict=True):
        task_no, is_flip, record, index, is_pass = head
        own = slice(start, end if seqs[start] else start)
        trail = Trail(tuple(calls[own]), tuple(codes[own]), tools[own])
        places = [place for place, is_act in enumerate(matters[own]) if is_act]
        yield Rollout(
            *(task_no, is_flip, record, index, is_pass, seqs[own], result_seqs[own]),
            *(trail, trail.only(places), places),
        )


def _changes(steps: pa.Table, name: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Whether each row's number is another than that of the row before it; the first is."""
    numbers = steps[name].to_numpy()
    return np.asarray(np.diff(numbers, prepend=numbers[0] - 1), dtype=np.bool_)


def _closest(
    failing: Rollout, passing: list[Rollout], ordered: list[Beginning]
) -> tuple[Rollout, tuple[int, ...]]:
    """The passing rollout whose acts are the same longest; of several, the one with most in common.

    In order of their steps, those that begin most like this one stand beside its own place. Ranks
    go with it: the lower, the closer.
    """
    steps = failing.acts.steps
    place = bisect_left(ordered, (steps, 0))
    n_first = max(
        n_shared_first(steps, other) for other, _ in ordered[max(place - 1, 0) : place + 1]
    )
    begins = steps[:n_first]
    low = bisect_left(ordered, begins, key=lambda other: other[0][:n_first])
    high = bisect_right(ordered, begins, key=lambda other: other[0][:n_first])
    candidates = sorted(number for _, number in ordered[low:high])[:MOST_CANDIDATES]
    distances = [_distance(failing, passing[number]) for number in candidates]
    nearest = min(distances)
    chosen = passing[candidates[distances.index(nearest)]]
    return chosen, (-n_first, *nearest, failing.index, chosen.index)


def _distance(failing: Rollout, passing: Rollout) -> tuple[int, ...]:
    """The fewer acts in common the farther, then the more that are not; then so for all calls.

    Of those, a common beginning counts first.
    """
    trail, other = failing.trail, passing.trail
    n_first = n_shared_first(trail.steps, other.steps)
    by_calls = _apart(trail, other)
    is_all = failing.acts is trail and passing.acts is other
    by_acts = by_calls if is_all else _apart(failing.acts, passing.acts)
    return *by_acts, -n_first, *by_calls


def _apart(failing: Trail, passing: Trail) -> tuple[int, int]:
    n_shared = failing.n_shared(passing)
    return -n_shared, len(failing.calls) + len(passing.calls) - 2 * n_shared


def _row(failing: Rollout, passing: Rollout, *, is_closest: bool) -> dict[str, Any]:
    divergence = first_divergence(failing.acts, passing.acts)
    # Where no act differs it may help to know which other call does.
    is_same = divergence.difference == "answer"
    other = first_divergence(failing.trail, passing.trail).step if is_same else None
    return {
        "task_no": failing.task_no,
        "record_id": failing.record_id,
        "passing_record_id": passing.record_id,
        "is_closest": is_closest,
        "n_common": failing.trail.n_shared(passing.trail),
        "difference": divergence.difference,
        "seq": _seq(failing.seqs, failing.places, divergence.step),
        "passing_seq": _seq(passing.seqs, passing.places, divergence.passing_step),
        "result_seq": _seq(failing.result_seqs, failing.places, divergence.step),
        "passing_result_seq": _seq(passing.result_seqs, passing.places, divergence.passing_step),
        "skipped_seq": _seq(passing.seqs, passing.places, divergence.skipped_step),
        "other_seq": _seq(failing.seqs, range(len(failing.trail)), other),
        "tools_only_failing": _only(failing.trail, passing.trail),
        "tools_only_passing": _only(passing.trail, failing.trail),
    }


def _seq(seqs: Sequence[int], places: Sequence[int], act: int | None) -> int | None:
    """The number of the event of an act; 0 is none."""
    return None if act is None else seqs[places[act]] or None


def _only(trail: Trail, other: Trail) -> list[str]:
    names = {tool for tool in trail.tools if tool is not None} - set(other.tools)
    return [name[:MOST_TOOL_CHARS] for name in sorted(names)[:MOST_TOOLS]]
