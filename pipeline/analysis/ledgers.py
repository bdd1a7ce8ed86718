"""What a change is made of: the steps of a funnel, and what noise alone would move."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from .stats import ROUNDING, Counts, Numbers, hypergeometric

BUCKETS = ("always", "sometimes", "never")
ALWAYS, SOMETIMES, NEVER = range(3)
EFFECTS = pa.schema(
    {
        **dict.fromkeys(("base", "candidate", "metric", "line", "effect"), pa.string()),
        "amount": pa.float64(),
    }
)
NOISE = pa.schema(
    {
        **dict.fromkeys(("base", "candidate", "line"), pa.string()),
        **dict.fromkeys(("n_tasks", "amount"), pa.float64()),
    }
)


def funnel_effects(ends: pa.Table) -> pa.Table:
    """What each step of the funnel gave to a change, and what rewards of those who end there."""
    rows: list[tuple[Any, ...]] = []
    # Of very many small runs most pairs are alike.
    effects = cache(_effects)
    for pair, own in _by_pair(ends):
        rows += [(*pair, *effect) for effect in effects(tuple(step[1:] for step in own))]
    return _table(rows, EFFECTS)


def _effects(steps: tuple[tuple[Any, ...], ...]) -> list[tuple[str, str, str, float]]:
    """The lines of one pair, by metric; of each step its name, and weights and rewards there."""
    lines: list[tuple[str, str, str, float]] = []
    names, *sums = zip(*steps, strict=True)
    base_weights, base_rewards, weights, rewards = (np.array(each) for each in sums)
    for metric in ("pass_at_1", "mean_reward"):
        if metric == "pass_at_1" and names[-1] != "passed":
            continue
        amounts, rest = shapley_steps(
            *(_rates(base_weights), _rates(weights)),
            *(_endings(base_weights, base_rewards, metric), _endings(weights, rewards, metric)),
        )
        lines += [
            (metric, line, "step", float(value))
            for line, value in zip(names[1:], amounts, strict=True)
        ]
        lines += [
            (metric, line, "reward", float(value))
            for line, value in zip(names, rest, strict=True)
            if value != 0
        ]
    return lines


def _rates(weights: Numbers) -> Numbers:
    """Of those that came to each step, the share that took it; undefined where none came."""
    reached = np.cumsum(weights[::-1])[::-1]
    with np.errstate(all="ignore"):
        return np.where(reached[:-1] > 0, reached[1:] / reached[:-1], np.nan)


def _endings(weights: Numbers, rewards: Numbers, metric: str) -> Numbers:
    """What those that end at each step are worth: of passes all, of others nothing, or rewards."""
    if metric == "pass_at_1":
        return np.array([0.0] * (len(weights) - 1) + [1.0])
    with np.errstate(all="ignore"):
        return np.where(weights > 0, rewards / weights, np.nan)


def transition_noise(tallies: pa.Table) -> pa.Table:
    """How many tasks would go from bucket to bucket if both runs were one model's."""
    rows: list[tuple[Any, ...]] = []
    expected = cache(lambda kinds: expected_transitions(*np.array(kinds).T))
    for pair, own in _by_pair(tallies):
        n_tasks, amounts = expected(own)
        n_all = sum(kind[-1] for kind in own)
        rows += [
            (*pair, f"{before} to {after}", float(n_tasks[i, j]), float(amounts[i, j]) / n_all)
            for i, before in enumerate(BUCKETS)
            for j, after in enumerate(BUCKETS)
        ]
    return _table(rows, NOISE)


def _by_pair(rows: pa.Table) -> Iterator[tuple[tuple[str, str], tuple[tuple[Any, ...], ...]]]:
    """Base and candidate, and what else the rows of each pair hold."""
    columns = (column.to_pylist() for column in rows.columns)
    for pair, own in groupby(zip(*columns, strict=True), key=itemgetter(0, 1)):
        yield pair, tuple(row[2:] for row in own)


def _table(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema)


def shapley_steps(
    base_steps: Numbers, candidate_steps: Numbers, base_endings: Numbers, candidate_endings: Numbers
) -> tuple[Numbers, Numbers]:
    """What each step of a funnel added to the change of the mean value, and each way to end.

    Steps are the rates at which what came so far goes on; endings, one more, the mean value of
    what goes no further. An undefined one takes the other run's; undefined in both it adds nothing.
    """
    base, candidate = _filled(base_steps, candidate_steps)
    before, after = _filled(base_endings, candidate_endings)
    weight = (_shares(base) + _shares(candidate)) / 2
    endings = weight * _moved(before, after)
    # The value is linear in each rate. Its Shapley values are then the integral of its slopes along
    # the straight way from one run to the other, and this many points integrate them exactly.
    points, weights = np.polynomial.legendre.leggauss(len(base) // 2 + 1)
    on_the_way = base + np.outer((points + 1) / 2, candidate - base)
    slopes = (weights / 2) @ _slopes(on_the_way, (before + after) / 2)
    return (candidate - base) * slopes, endings


def _filled(base: Numbers, candidate: Numbers) -> tuple[Numbers, Numbers]:
    """Each with what the other has where it has none, and 0 where neither has."""
    either = np.where(np.isnan(base), candidate, base)
    other = np.where(np.isnan(candidate), base, candidate)
    return np.where(np.isnan(either), 0, either), np.where(np.isnan(other), 0, other)


def _moved(before: Numbers, after: Numbers) -> Numbers:
    """How far each went; equal ones not at all, even where rounding left something."""
    is_moved = np.abs(after - before) > ROUNDING * np.maximum(np.abs(before), np.abs(after))
    return np.where(is_moved, after - before, 0)


def _shares(steps: Numbers) -> Numbers:
    """The share that ends before each step, and the share that takes all of them."""
    reached = np.append(1, np.cumprod(steps))
    return np.asarray(reached * np.append(1 - steps, 1))


def _slopes(steps: Numbers, endings: Numbers) -> Numbers:
    """How fast the mean value grows with each rate, one funnel per row."""
    n_steps = steps.shape[1]
    slopes = np.empty_like(steps)
    beyond = np.full(len(steps), endings[-1])
    for step in range(n_steps - 1, -1, -1):
        slopes[:, step] = beyond - endings[step]
        beyond = endings[step] + steps[:, step] * slopes[:, step]
    reached = np.cumprod(np.column_stack((np.ones(len(steps)), steps[:, :-1])), axis=1)
    return slopes * reached[:, :n_steps]


def expected_transitions(
    n_base: Counts, n_candidate: Counts, n_passed: Counts, n_alike: Counts | None = None
) -> tuple[Numbers, Numbers]:
    """From bucket (row) to bucket (column): tasks expected there, and their change of rate in all.

    `n_passed` are a task's passes in both runs together: were the runs alike, any of its rollouts
    could as well have been the other run's. `n_alike` tasks are so, one by default. Buckets are
    always, sometimes, never.
    """
    kind, base, chance = hypergeometric(n_base, n_candidate, n_passed)
    n_base, n_candidate, candidate = n_base[kind], n_candidate[kind], n_passed[kind] - base
    cell = 3 * _bucket(base, n_base) + _bucket(candidate, n_candidate)
    n_tasks = chance if n_alike is None else n_alike[kind] * chance
    change = candidate / n_candidate - base / n_base
    return _matrix(cell, n_tasks), _matrix(cell, n_tasks * change)


def _matrix(cell: Counts, amounts: Numbers) -> Numbers:
    return np.asarray(np.bincount(cell, amounts, minlength=9), dtype=np.float64).reshape(3, 3)


def _bucket(n_passed: Counts, n_scored: Counts) -> Counts:
    return np.where(n_passed == n_scored, ALWAYS, np.where(n_passed == 0, NEVER, SOMETIMES))
