"""Could noise alone have made a change? The repeats of each task in, a test a comparison out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pipeline.analysis import stats
from pipeline.relation import Computed

SIDES = ("base", "candidate")
METRICS = ("pass_at_1", "mean_reward")
SCHEMA = pa.schema(
    {
        **dict.fromkeys((*SIDES, "metric"), pa.string()),
        "p_value": pa.float64(),
        "test": pa.string(),
        "n_draws": pa.int64(),
    }
)


@dataclass(frozen=True)
class _Repeats:
    """The tasks that two runs share, in order; by side repeats, passes and all rewards."""

    n_scored: tuple[stats.Counts, ...]
    n_passed: tuple[stats.Counts, ...] | None
    rewards: tuple[stats.Numbers, ...]
    groups: NDArray[np.int64] | None

    def values(self, metric: str) -> stats.Numbers:
        """What each repeat was worth: task by task, the base's before the candidate's."""
        sizes = np.stack(self.n_scored, axis=1).ravel()
        is_candidate = np.repeat(np.arange(len(sizes)) % 2 == 1, sizes)
        found = np.empty(len(is_candidate))
        if metric == "mean_reward" or self.n_passed is None:
            found[~is_candidate], found[is_candidate] = self.rewards
            return found
        passed = np.stack(self.n_passed, axis=1).ravel()
        both = np.stack([sizes - passed, passed], axis=1).ravel()
        return np.repeat(np.arange(len(both)) % 2.0, both)


def change_tests(tasks: pa.Table) -> pa.Table:
    """A test of each comparison by each metric; where rewards are passes, both ask the same."""
    rows: list[dict[str, Any]] = []
    for base, candidate, repeats in _comparisons(tasks):
        asked: dict[bytes, stats.ChangeTest] = {}
        for metric in METRICS if repeats.n_passed is not None else METRICS[1:]:
            values = repeats.values(metric)
            key = values.tobytes()
            if key not in asked:
                asked[key] = stats.change_p_value(values, *repeats.n_scored, groups=repeats.groups)
            test = asked[key]
            told = {"p_value": test.p_value, "test": test.method, "n_draws": test.n_draws}
            rows.append({"base": base, "candidate": candidate, "metric": metric, **told})
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _comparisons(tasks: pa.Table) -> Iterator[tuple[str, str, _Repeats]]:
    """Each comparison's tasks, which stand together."""
    columns = tasks.combine_chunks()
    names = [_coded(columns[side]) for side in SIDES]
    groups, _ = _coded(columns["task_group"])
    is_first = np.ones(len(tasks), dtype=bool)
    is_first[1:] = np.logical_or.reduce([codes[1:] != codes[:-1] for codes, _ in names])
    starts = [*np.flatnonzero(is_first).tolist(), len(tasks)]
    for start, end in pairwise(starts):
        own = columns.slice(start, end - start)
        passed = [own[f"n_{side}_passed"] for side in SIDES]
        is_settled = not any(column.null_count for column in passed)
        base, candidate = (known[int(codes[start])] for codes, known in names)
        is_grouped = len(np.unique(groups[start:end])) < end - start
        yield (
            base,
            candidate,
            _Repeats(
                tuple(_counts(own[f"n_{side}"]) for side in SIDES),
                tuple(_counts(column) for column in passed) if is_settled else None,
                tuple(_flat(own[f"{side}_rewards"]) for side in SIDES),
                groups[start:end] if is_grouped else None,
            ),
        )


def _coded(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], list[str]]:
    """A number for each text, and the texts."""
    coded = column.combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    return coded.indices.to_numpy().astype(np.int64), coded.dictionary.to_pylist()


def _counts(column: pa.ChunkedArray) -> stats.Counts:
    return np.asarray(column.to_numpy(), dtype=np.int64)


def _flat(lists: pa.ChunkedArray) -> stats.Numbers:
    """All values of the lists, end to end."""
    return np.concatenate([np.zeros(0), *(chunk.flatten().to_numpy() for chunk in lists.chunks)])


CHANGE_TESTS = Computed(
    name="staging.change_tests",
    purpose="Whether noise alone could have made each change: a p-value, and how it was found.",
    grain=(*SIDES, "metric"),
    is_table=True,
    query="select * from staging.comparison_repeats order by base, candidate, task_id",
    compute=change_tests,
)
