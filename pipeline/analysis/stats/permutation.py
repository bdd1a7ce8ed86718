"""Could noise alone have made this change? What was seen against what labels at random would show.

Where both runs have the same repeats of every task, the signs of tasks' differences are flipped.
Where repeats differ that rejects too often, and five signs never reach 5%: rollouts are then dealt
out anew within their tasks. With one repeat both are McNemar's exact test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from math import lcm, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analysis.stats.draws import share_of_draws, share_of_outcomes
from pipeline.analysis.stats.hypergeometric import Counts, tally
from pipeline.analysis.stats.intervals import Numbers
from pipeline.analysis.stats.pass_splits import passing_outcomes, passing_sums
from pipeline.analysis.stats.reward_splits import RewardTasks, graded_outcomes, graded_sums
from pipeline.analysis.stats.signs import MOST_EXACT_SIGNS, flipped_sums, share_of_flips

SIGNS_OF_TASKS, SIGNS_OF_GROUPS = "signs of tasks", "signs of groups"
WITHIN_TASKS = "rollouts within tasks"
# Of five signs all agree once in 16: p is never below 6%.
FEWEST_SIGNS = 6


@dataclass(frozen=True)
class ChangeTest:
    """A p-value, what was permuted, and how often; None where all permutations were tried."""

    p_value: float
    method: str
    n_draws: int | None


@dataclass(frozen=True)
class _Rollouts:
    """Two runs on common tasks: all values, task by task, those of the base first."""

    values: Numbers
    n_base: Counts
    n_candidate: Counts

    def sums(self) -> tuple[Numbers, Numbers]:
        """The sum of values, task by task: of the base, and of the candidate."""
        sizes = np.stack((self.n_base, self.n_candidate), axis=1).ravel()
        both = np.add.reduceat(self.values, np.cumsum(sizes) - sizes)
        return both[::2], both[1::2]


@dataclass(frozen=True)
class _Grid:
    """Changes are counted in units of 1 / `unit`, whole ones, so that equal sums are equal.

    Where all values are whole numbers, a common multiple of the repeats makes every change one,
    and `slack` is 0. Otherwise each is rounded: two sums that are equal may then come out apart by
    a unit a task, far less than sums that are not; within `slack` they count as equal. Doubles hold
    all these sums exactly.
    """

    unit: float
    slack: float


def change_p_value(
    values: Numbers, n_base: Counts, n_candidate: Counts, *, groups: NDArray[np.int64] | None = None
) -> ChangeTest:
    """How often labels at random move the mean of tasks as far, up or down, as it moved.

    The values of all rollouts come task by task, those of the base before those of the candidate.
    Tasks of a group flip together. NaN without tasks.
    """
    if not len(n_base):
        return ChangeTest(nan, WITHIN_TASKS, None)
    grid = _grid(values, n_base, n_candidate)
    rollouts = _rollouts(values, n_base, n_candidate, is_exact=grid.slack == 0)
    base, candidate = rollouts.sums()
    changes = np.rint(candidate * grid.unit / n_candidate - base * grid.unit / n_base)
    flipped = changes if groups is None else np.bincount(_numbered(groups), changes)
    sizes = np.sort(np.abs(flipped))
    sizes = sizes[sizes > grid.slack]
    observed = float(changes.sum())
    least = abs(observed) - grid.slack
    if np.array_equal(n_base, n_candidate) and len(sizes) >= FEWEST_SIGNS:
        return _by_signs(sizes, least, SIGNS_OF_TASKS if groups is None else SIGNS_OF_GROUPS)
    if least <= 0:
        return ChangeTest(1.0, WITHIN_TASKS, None)
    # Named so that the change is upwards: both directions of a comparison then draw alike.
    if observed < 0:
        n_base, n_candidate = n_candidate, n_base
    return _within_tasks(_Rollouts(rollouts.values, n_base, n_candidate), grid, least)


def _rollouts(values: Numbers, n_base: Counts, n_candidate: Counts, *, is_exact: bool) -> _Rollouts:
    """The rollouts, in order within each run of each task unless their sums do not hang on it."""
    sizes = np.stack((n_base, n_candidate), axis=1).ravel()
    if sizes.min() < 1 or sizes.sum() != len(values):
        raise ValueError("every task needs rollouts of both runs, and every rollout its task")
    if not is_exact:
        values = values[np.lexsort((values, np.repeat(np.arange(len(sizes)), sizes)))]
    # Plus 0 there is no negative zero, which would be another seed.
    return _Rollouts(values + 0.0, n_base, n_candidate)


def _grid(values: Numbers, n_base: Counts, n_candidate: Counts) -> _Grid:
    n_tasks, largest = len(n_base), float(np.abs(values).max())
    multiple = lcm(*np.unique(np.concatenate((n_base, n_candidate))).tolist())
    if multiple * largest * n_tasks < 2**51 and np.array_equal(values, np.rint(values)):
        return _Grid(float(multiple), 0.0)
    exponent = np.ceil(np.log2(n_tasks) + np.log2(largest))
    return _Grid(float(np.exp2(50 - exponent)), 2.0 * n_tasks)


def _numbered(groups: NDArray[np.int64]) -> NDArray[np.intp]:
    return np.unique(groups, return_inverse=True)[1]


def _by_signs(sizes: Numbers, least: float, method: str) -> ChangeTest:
    if len(sizes) <= MOST_EXACT_SIGNS:
        return ChangeTest(share_of_flips(sizes, least), method, None)
    p_value, n_draws = share_of_draws(flipped_sums(sizes, _random([sizes])), least)
    return ChangeTest(p_value, method, n_draws)


def _within_tasks(rollouts: _Rollouts, grid: _Grid, least: float) -> ChangeTest:
    lowest, highest = rollouts.values.min(), rollouts.values.max()
    if np.all((rollouts.values == lowest) | (rollouts.values == highest)):
        kinds, n_alike = _passing_kinds(rollouts, highest)
        unit, inputs = grid.unit * float(highest - lowest), [kinds, n_alike]
        exact = share_of_outcomes(passing_outcomes(kinds, n_alike, unit), int(n_alike.sum()), least)
        sums = partial(passing_sums, kinds, n_alike, unit)
    else:
        shapes = _reward_shapes(rollouts)
        inputs = [
            np.append(shape.rewards.ravel(), [shape.n_base, shape.n_candidate]) for shape in shapes
        ]
        n_tasks = sum(len(shape.rewards) for shape in shapes)
        exact = share_of_outcomes(graded_outcomes(shapes, grid.unit), n_tasks, least)
        sums = partial(graded_sums, shapes, grid.unit)
    if exact is not None:
        return ChangeTest(exact, WITHIN_TASKS, None)
    p_value, n_draws = share_of_draws(sums(_random(inputs)), least)
    return ChangeTest(p_value, WITHIN_TASKS, n_draws)


def _passing_kinds(rollouts: _Rollouts, highest: float) -> tuple[Counts, Counts]:
    """Repeats of both runs and passes of both together, of tasks that have passes and failures."""
    n_all = rollouts.n_base + rollouts.n_candidate
    task = np.repeat(np.arange(len(n_all)), n_all)
    n_passed = np.bincount(task[rollouts.values == highest], minlength=len(n_all))
    mixed = (n_passed > 0) & (n_passed < n_all)
    return tally(rollouts.n_base[mixed], rollouts.n_candidate[mixed], n_passed[mixed])


def _reward_shapes(rollouts: _Rollouts) -> list[RewardTasks]:
    """Tasks whose rewards differ, in an order that does not hang on how they came."""
    n_base, n_candidate = rollouts.n_base, rollouts.n_candidate
    n = n_base + n_candidate
    ascending = rollouts.values[np.lexsort((rollouts.values, np.repeat(np.arange(len(n)), n)))]
    starts = np.cumsum(n) - n
    shapes = []
    for base, candidate in tally(n_base, n_candidate)[0].tolist():
        own = starts[(n_base == base) & (n_candidate == candidate)]
        rewards = ascending[own[:, None] + np.arange(base + candidate)]
        mixed = rewards[rewards[:, 0] < rewards[:, -1]]
        if len(mixed):
            shapes.append(RewardTasks(base, candidate, mixed[np.lexsort(mixed.T[::-1])]))
    return shapes


def _random(inputs: Sequence[NDArray[Any]]) -> np.random.Generator:
    """Seeded with these inputs, which come in an order of their own."""
    seed = sha256()
    for array in inputs:
        seed.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return np.random.default_rng(int.from_bytes(seed.digest(), "little"))
