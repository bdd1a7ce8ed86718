"""Could noise alone have made this change? Two tests per comparison, from the repeats of each task.

`p_signs` asks whether the mean of tasks like these changed: the signs of the tasks' changes are
flipped. It needs as many repeats of each task in both runs; else `intervals` uses Student's t.
`p_any` asks whether any task changed: the rollouts of each task are dealt out again to both runs.
With one repeat both are McNemar's exact test. A p-value is exact where the cases are few enough to
count, as they mostly are where rollouts pass or fail; else it comes from random draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import combinations, pairwise
from math import comb, lcm, sqrt
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .power import detectable_change
from .stats import Counts, Numbers, coded, counts, hypergeometric, tally

SIDES = ("base", "candidate")
METRICS = ("pass_at_1", "mean_reward")
SCHEMA = pa.schema(
    {
        **dict.fromkeys((*SIDES, "metric"), pa.string()),
        "p_signs": pa.float64(),
        "n_draws": pa.int64(),
        "p_any": pa.float64(),
        "n_draws_any": pa.int64(),
        "mde_by_rule": pa.float64(),
        "is_mde_by_rule": pa.bool_(),
    }
)
# Up to these sizes a p-value is exact; beyond them it comes from random draws.
MOST_EXACT_SIGNS = 20  # tasks whose signs are tried in every combination
MOST_EXACT = 2**14  # sums that the changes of all tasks can have
WIDEST = 2**20  # numbers in a Fourier transform
# Rounding leaves about this much in a transform: a smaller chance may as well be 0.
LEAST_CHANCE = float(np.finfo(float).eps)
# If MANY_HITS of the first draws reach the observed change, p is above 0.1 and they are enough.
FIRST_DRAWS, DRAWS, MANY_HITS = 999, 9_999, 100
# A random byte gives the signs of eight tasks: a row of FLIPS has those of one byte.
TABLES_AT_ONCE = 64
FLIPS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) * 2.0 - 1
# A task's rewards are split between both runs in all ways, up to so many: 8 + 8 have 12,870.
MOST_LISTED = 2**14
# Where sums are drawn, each task has random splits: ALL_DRAWN / tasks, within the other two.
ALL_DRAWN, MOST_DRAWN, FEWEST_DRAWN = 2**18, 2**16, 2**7
# Numbers worked on at a time: a megabyte stays in the cache.
CHUNK = 2**17

Outcomes = tuple[Numbers, Numbers]  # what tasks can change by, and how likely each is
Sums = Callable[[int], Numbers]  # so many draws of the sum of changes


def change_tests(tasks: pa.Table) -> pa.Table:
    """A test of each comparison by each metric; where rewards are passes, both ask the same."""
    if not len(tasks):
        return SCHEMA.empty_table()
    columns = tasks.combine_chunks()
    base, candidate, groups = (
        coded(columns[name].to_pylist())[0] for name in (*SIDES, "task_group")
    )
    is_next = (np.diff(base) != 0) | (np.diff(candidate) != 0)
    rows: list[dict[str, Any]] = []
    for start, end in pairwise([0, *(1 + np.flatnonzero(is_next)).tolist(), len(tasks)]):
        own, of_group = columns.slice(start, end - start), groups[start:end]
        compared = [own[side][0].as_py() for side in SIDES]
        n_scored = [counts(own[f"n_{side}"]) for side in SIDES]
        is_grouped = len(np.unique(of_group)) < len(own)
        tested: dict[bytes, tuple[ChangeTest, ChangeTest]] = {}
        mde: dict[bytes, float] = {}
        for metric, values in _values(own, n_scored):
            key = values.tobytes()
            if key not in tested:
                by_group = of_group if is_grouped else None
                tested[key] = change_p_values(values, *n_scored, groups=by_group)
                # Of groups and of graded rewards the standard error has to do.
                if metric == METRICS[0] and not is_grouped:
                    passed = [counts(own[f"n_{side}_passed"]) for side in SIDES]
                    mde[key] = detectable_change(*n_scored, *passed)
            figures = [each for test in tested[key] for each in (test.p_value, test.n_draws)]
            figures += [mde.get(key), key in mde]
            rows.append(dict(zip(SCHEMA.names, [*compared, metric, *figures], strict=True)))
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _values(tasks: pa.Table, n_scored: list[Counts]) -> Iterator[tuple[str, Numbers]]:
    """By metric what each repeat was worth: task by task, the base's before the candidate's.

    Without a threshold nothing passes or fails, and there are rewards alone.
    """
    sizes = np.stack(n_scored, axis=1).ravel()
    passes = [tasks[f"n_{side}_passed"] for side in SIDES]
    if not any(column.null_count for column in passes):
        yield METRICS[0], passing_values(n_scored, [counts(column) for column in passes])
    is_candidate = np.repeat(np.arange(len(sizes)) % 2 == 1, sizes)
    rewards = np.empty(len(is_candidate))
    for side, own in zip(SIDES, (~is_candidate, is_candidate), strict=True):
        chunks = tasks[f"{side}_rewards"].chunks
        rewards[own] = np.concatenate([np.zeros(0), *map(_flat, chunks)])
    yield METRICS[1], rewards


def _flat(lists: pa.ListArray) -> Numbers:
    """The numbers of lists, one after another."""
    ends = lists.offsets.to_numpy()
    return np.asarray(lists.values.to_numpy()[ends[0] : ends[-1]])


def passing_values(n_scored: Sequence[Counts], passed: Sequence[Counts]) -> Numbers:
    """0 for each failure and 1 for each pass, task by task, the base's before the candidate's."""
    n_failed = [n - own for n, own in zip(n_scored, passed, strict=True)]
    both = np.stack([n_failed[0], passed[0], n_failed[1], passed[1]], axis=1).ravel()
    return np.repeat(np.arange(len(both)) % 2.0, both)


@dataclass(frozen=True)
class ChangeTest:
    """A p-value, and from how many draws; None where it is exact. No p-value where undefined."""

    p_value: float | None
    n_draws: int | None = None


def change_p_values(
    values: Numbers, n_base: Counts, n_candidate: Counts, *, groups: NDArray[np.int64] | None = None
) -> tuple[ChangeTest, ChangeTest]:
    """How often random labels move the mean of tasks as far, up or down, as it moved.

    Two p-values: by the signs of tasks' changes, and by rollouts within tasks. `values` has all
    rollouts task by task, those of the base before those of the candidate. Tasks of a group flip
    together. Both are undefined without tasks, the first also where both runs' repeats differ.
    """
    if not len(n_base):
        return ChangeTest(None), ChangeTest(None)
    sizes = np.stack((n_base, n_candidate), axis=1).ravel()
    if sizes.min() < 1 or sizes.sum() != len(values):
        raise ValueError("every task needs rollouts of both runs, and every rollout its task")
    unit, slack = _grid(values, n_base, n_candidate)
    if slack:
        # The order of rewards changes the rounding of their sums: always the ascending one.
        values = values[np.lexsort((values, np.repeat(np.arange(len(sizes)), sizes)))]
    # To add 0.0 makes 0.0 of -0.0, whose bytes would give another seed.
    values = values + 0.0
    sums = np.add.reduceat(values, np.cumsum(sizes) - sizes)
    changes = np.rint(sums[1::2] * unit / n_candidate - sums[::2] * unit / n_base)
    observed = float(changes.sum())
    least = abs(observed) - slack
    by_signs = ChangeTest(None)
    if np.array_equal(n_base, n_candidate):
        if groups is not None:
            changes = np.bincount(np.unique(groups, return_inverse=True)[1], changes)
        by_signs = _by_signs(changes, least, slack)
    if least <= 0:
        return by_signs, ChangeTest(1.0)
    # Swap the runs so that the change is upwards: a comparison and its reverse then have the same
    # draws. The values stay: from here on only which rollouts are of one task matters.
    if observed < 0:
        n_base, n_candidate = n_candidate, n_base
    return by_signs, _within_tasks(values, n_base, n_candidate, unit, least)


def _grid(values: Numbers, n_base: Counts, n_candidate: Counts) -> tuple[float, float]:
    """Changes are counted in whole units of 1 / unit, so that equal sums are equal; and a slack.

    Where all values are whole numbers, a common multiple of the repeats makes every change one,
    and the slack is 0. Otherwise each is rounded: two sums that are equal may then come out apart
    by one unit per task, far less than sums that are not; within the slack they count as equal.
    Doubles hold all these sums exactly.
    """
    n_tasks, largest = len(n_base), float(np.abs(values).max())
    multiple = lcm(*np.unique(np.concatenate((n_base, n_candidate))).tolist())
    if multiple * largest * n_tasks < 2**51 and np.array_equal(values, np.rint(values)):
        return float(multiple), 0.0
    exponent = np.ceil(np.log2(n_tasks) + np.log2(largest))
    return float(np.exp2(50 - exponent)), 2.0 * n_tasks


def _by_signs(changes: Numbers, least: float, slack: float) -> ChangeTest:
    """Of all choices of signs, or of draws of them, the share whose sum is as far from 0."""
    sizes = np.sort(np.abs(changes))
    # Changes within the slack are rounding: what they add to the observed sum does not count.
    least -= float(sizes[sizes <= slack].sum())
    sizes = sizes[sizes > slack]
    if least <= 0:
        return ChangeTest(1.0)
    if not slack:
        whole, n_alike = np.unique(sizes.astype(np.int64), return_counts=True)
        step = int(np.gcd.reduce(whole))
        if (whole // step * n_alike).sum() < WIDEST:
            return ChangeTest(_share_of_flips(whole // step, n_alike, least / step))
    if len(sizes) > MOST_EXACT_SIGNS:
        return _by_draws(_flipped_sums(sizes, _random([sizes])), least)
    # A choice and its opposite are equally far: half of them do.
    sums = sizes[:1]
    for size in sizes[1:]:
        sums = np.concatenate((sums - size, sums + size))
    return ChangeTest(float(np.mean(np.abs(sums) >= least)))


def _share_of_flips(sizes: Counts, n_alike: Counts, least: float) -> float:
    """The share of choices of signs whose sum is so far from 0, by a Fourier transform.

    The sum is twice that of the sizes with a plus, less the sum of all. The characteristic function
    of the sum of those with a plus is the product of those of the sizes.
    """
    total = int((sizes * n_alike).sum())
    n = 2 ** total.bit_length()
    turns = np.arange(n // 2 + 1) * (-2j * np.pi / n)
    product = np.ones(n // 2 + 1, dtype=np.complex128)
    for size, times in zip(sizes.tolist(), n_alike.tolist(), strict=True):
        product *= ((1 + np.exp(turns * size)) / 2) ** times
    chances = np.fft.irfft(product, n)[: total + 1]
    is_as_far = np.abs(2 * np.arange(total + 1) - total) >= least
    return float(np.clip(chances[is_as_far].sum(), LEAST_CHANCE, 1))


def _flipped_sums(sizes: Numbers, random: np.random.Generator) -> Sums:
    """Draws of the sum: a random byte chooses the signs of eight sizes at a time."""
    eights = np.append(sizes, np.zeros(-len(sizes) % 8)).reshape(-1, 8)
    tables = np.ascontiguousarray((FLIPS @ eights.T).T)

    def draw(n_draws: int) -> Numbers:
        sums = np.zeros(n_draws)
        for start in range(0, len(tables), TABLES_AT_ONCE):
            own = tables[start : start + TABLES_AT_ONCE]
            flips = random.integers(0, 256, (len(own), n_draws), dtype=np.uint8)
            for table, flip in zip(own, flips, strict=True):
                sums += table.take(flip)
        return sums

    return draw


def _within_tasks(
    values: Numbers, n_base: Counts, n_candidate: Counts, unit: float, least: float
) -> ChangeTest:
    """Each task's rollouts dealt out again to both runs: every way, or draws of them."""
    lowest, highest = values.min(), values.max()
    if np.all((values == lowest) | (values == highest)):
        kinds, n_alike = _passing_kinds(values == highest, n_base, n_candidate)
        shapes = _passing_shapes(kinds, n_alike, unit * float(highest - lowest))
        exact = _share_of_outcomes(shapes, least)
        if exact is None:
            return _by_draws(_passing_sums(shapes, _random([kinds, n_alike])), least)
        return ChangeTest(exact)
    tasks = _reward_shapes(values, n_base, n_candidate)
    exact = None
    # A task that can change at all has two outcomes or more: of many they need not be listed.
    if sum(len(shape.rewards) for shape in tasks) < MOST_EXACT.bit_length():
        exact = _share_of_outcomes(_graded_outcomes(tasks, unit), least)
    if exact is None:
        inputs = [
            np.append(shape.rewards.ravel(), [shape.n_base, shape.n_candidate]) for shape in tasks
        ]
        return _by_draws(_graded_sums(tasks, unit, _random(inputs)), least)
    return ChangeTest(exact)


def _share_of_outcomes(parts: Iterable[Outcomes | None], least: float) -> float | None:
    """The chance that the changes sum to at least so far from 0; None where there are too many."""
    sums, chances = np.zeros(1), np.ones(1)
    for part in parts:
        if part is None or len(sums) * len(part[0]) > MOST_EXACT:
            return None
        sums, owner = np.unique(np.add.outer(sums, part[0]).ravel(), return_inverse=True)
        both = np.multiply.outer(chances, part[1]).ravel()
        chances = np.asarray(np.bincount(owner, both), dtype=np.float64)
    return float(np.clip(chances[np.abs(sums) >= least].sum(), LEAST_CHANCE, 1))


def _by_draws(sums: Sums, least: float) -> ChangeTest:
    """The p-value by draws, what was seen counted as one of them."""
    n_draws = FIRST_DRAWS
    hits = int(np.count_nonzero(np.abs(sums(FIRST_DRAWS)) >= least))
    if hits < MANY_HITS:
        n_draws = DRAWS
        hits += int(np.count_nonzero(np.abs(sums(DRAWS - FIRST_DRAWS)) >= least))
    return ChangeTest((1 + hits) / (1 + n_draws), n_draws)


def _random(inputs: Sequence[NDArray[Any]]) -> np.random.Generator:
    """Seeded with these inputs, which come in an order of their own."""
    seed = sha256()
    for array in inputs:
        seed.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return np.random.default_rng(int.from_bytes(seed.digest(), "little"))


def _passing_kinds(
    is_pass: NDArray[np.bool_], n_base: Counts, n_candidate: Counts
) -> tuple[Counts, Counts]:
    """Repeats of both runs and passes of both together, of tasks that have passes and failures."""
    n_all = n_base + n_candidate
    task = np.repeat(np.arange(len(n_all)), n_all)
    n_passed = np.bincount(task[is_pass], minlength=len(n_all))
    mixed = (n_passed > 0) & (n_passed < n_all)
    return tally(n_base[mixed], n_candidate[mixed], n_passed[mixed])


def _passing_shapes(kinds: Counts, n_alike: Counts, unit: float) -> list[Outcomes]:
    """What all tasks with the same repeats can change by where rollouts pass or fail.

    They change by steps of one size: how many passes their bases get in all is one number.
    """
    shapes = []
    for n_base, n_candidate in tally(*kinds[:, :2].T)[0]:
        own = (kinds[:, 0] == n_base) & (kinds[:, 1] == n_candidate)
        base, chances = _passes_of_bases(kinds[own], n_alike[own])
        passed = (kinds[own, 2] * n_alike[own]).sum()
        change = np.rint((passed - base) * unit / n_candidate - base * unit / n_base)
        shapes.append((change, chances))
    return shapes


def _passing_sums(shapes: Sequence[Outcomes], random: np.random.Generator) -> Sums:
    """Draws of the sum where rollouts pass or fail and repeats are of many shapes."""
    below = [np.cumsum(chances) for _, chances in shapes]

    def draw(n_draws: int) -> Numbers:
        sums = np.zeros(n_draws)
        for (change, _), chance in zip(shapes, below, strict=True):
            place = np.searchsorted(chance, random.random(n_draws), side="right")
            sums += change[np.minimum(place, len(change) - 1)]
        return sums

    return draw


def _passes_of_bases(kinds: Counts, n_alike: Counts) -> tuple[Counts, Numbers]:
    """The numbers of passes that bases of one size can get in all, and the chance of each.

    The characteristic functions of tasks are multiplied. A sum of hypergeometric counts is one of
    independent ones and zeros: beyond 12 deviations and 50 there is nothing that a double can hold,
    so the numbers may be counted in a circle of that size.
    """
    n_base, n_candidate, n_passed = kinds.T
    n = n_base + n_candidate
    mean = float((n_alike * n_base * n_passed / n).sum())
    squares = n_alike * n_base * n_candidate * n_passed * (n - n_passed) / (n**2 * (n - 1.0))
    size = 2 ** int(24 * sqrt(squares.sum()) + 100).bit_length()
    product = np.ones(size // 2 + 1, dtype=np.complex128)
    kind, base, chance = hypergeometric(n_base, n_candidate, n_passed)
    for index, times in enumerate(n_alike):
        own = kind == index
        once = np.bincount(base[own] % size, chance[own], minlength=size)
        product *= np.fft.rfft(once) ** times
    circle = np.fft.irfft(product, size)
    numbers = round(mean) - size // 2 + np.arange(size)
    chances = np.maximum(circle[numbers % size], 0)
    likely = chances > LEAST_CHANCE
    return numbers[likely], chances[likely] / chances[likely].sum()


@dataclass(frozen=True)
class _RewardTasks:
    """Tasks with the same repeats, one per row: the rewards of both runs together, ascending."""

    n_base: int
    n_candidate: int
    rewards: Numbers

    def most(self, unit: float) -> Numbers:
        """What tasks would change by if the candidate had all of their rewards, the base none."""
        return np.asarray(np.rint(self.rewards.sum(axis=1) * (unit / self.n_candidate)))


def _reward_shapes(values: Numbers, n_base: Counts, n_candidate: Counts) -> list[_RewardTasks]:
    """Tasks whose rewards differ, sorted: the order in which they came does not matter."""
    n = n_base + n_candidate
    ascending = values[np.lexsort((values, np.repeat(np.arange(len(n)), n)))]
    starts = np.cumsum(n) - n
    shapes = []
    for base, candidate in tally(n_base, n_candidate)[0].tolist():
        own = starts[(n_base == base) & (n_candidate == candidate)]
        rewards = ascending[own[:, None] + np.arange(base + candidate)]
        mixed = rewards[rewards[:, 0] < rewards[:, -1]]
        if len(mixed):
            shapes.append(_RewardTasks(base, candidate, mixed[np.lexsort(mixed.T[::-1])]))
    return shapes


def _graded_outcomes(shapes: list[_RewardTasks], unit: float) -> Iterator[Outcomes | None]:
    """What each task can change by; None where there are too many splits to list."""
    for shape in shapes:
        n = shape.n_base + shape.n_candidate
        if comb(n, shape.n_base) > MOST_LISTED:
            yield None
            continue
        splits = np.array(list(combinations(range(n), shape.n_base)))
        for most, rewards in zip(shape.most(unit), shape.rewards, strict=True):
            listed = rewards[splits].sum(axis=1)
            taken = np.rint(listed * (unit / shape.n_base + unit / shape.n_candidate))
            amounts, n_splits = np.unique(most - taken, return_counts=True)
            yield amounts, n_splits / len(listed)


def _graded_sums(shapes: list[_RewardTasks], unit: float, random: np.random.Generator) -> Sums:
    """Draws of the sum: of each task one of many splits."""
    most = sum(float(shape.most(unit).sum()) for shape in shapes)
    n_tasks = sum(len(shape.rewards) for shape in shapes)
    n_splits = min(max(ALL_DRAWN // max(n_tasks, 1), FEWEST_DRAWN), MOST_DRAWN)
    size = max(CHUNK // n_splits, 1)
    tables = [
        _taken(replace(shape, rewards=shape.rewards[start : start + size]), n_splits, unit, random)
        for shape in shapes
        for start in range(0, len(shape.rewards), size)
    ]

    def draw(n_draws: int) -> Numbers:
        sums = np.full(n_draws, most)
        for table in tables:
            n_tasks, n_listed = table.shape
            kind = np.min_scalar_type(n_listed)
            picks = random.integers(0, n_listed, (n_tasks, n_draws), kind)
            for taken, pick in zip(table, picks, strict=True):
                sums -= taken.take(pick)
        return sums

    return draw


def _taken(tasks: _RewardTasks, n_splits: int, unit: float, random: np.random.Generator) -> Numbers:
    """What splits take away from that, one row per task: the rewards that are the base's instead.

    The base has a stretch of a shuffle, from each of its places on: every rollout is the base's
    equally often, so that the mean change is 0. Tasks share the shuffles, each in its own order.
    """
    n_base, n = tasks.n_base, tasks.n_base + tasks.n_candidate
    rewards = tasks.rewards * (unit / n_base + unit / tasks.n_candidate)
    shuffles = random.permuted(np.tile(np.arange(n)[:, None], -(-n_splits // n)), axis=0)
    around = np.concatenate((shuffles, shuffles[:n_base]))
    running = np.cumsum(random.permuted(rewards, axis=1)[:, around], axis=1)
    taken = running[:, n_base:] - running[:, :n]
    return np.asarray(np.rint(taken, out=taken).reshape(len(rewards), -1))
