"""Permutation tests of a change against all relabellings, one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from pipeline.analysis import permutation

Task = tuple[list[float], list[float]]  # what the rollouts of base and candidate got


def both_of(
    tasks: list[Task], groups: list[int] | None = None
) -> tuple[permutation.ChangeTest, permutation.ChangeTest]:
    """By signs of tasks, and by rollouts within them."""
    values = [value for base, candidate in tasks for value in (*base, *candidate)]
    return permutation.change_p_values(
        np.array(values, dtype=np.float64),
        np.array([len(base) for base, _ in tasks]),
        np.array([len(candidate) for _, candidate in tasks]),
        groups=None if groups is None else np.array(groups),
    )


def within_of(tasks: list[Task]) -> permutation.ChangeTest:
    return both_of(tasks)[1]


def change(base: list[Fraction], candidate: list[Fraction]) -> Fraction:
    return sum(candidate, Fraction(0)) / len(candidate) - sum(base, Fraction(0)) / len(base)


def exact(tasks: list[Task]) -> list[tuple[list[Fraction], list[Fraction]]]:
    """Rewards as the decimals they were written as."""
    return [
        ([Fraction(str(v)) for v in base], [Fraction(str(v)) for v in candidate])
        for base, candidate in tasks
    ]


def by_signs(tasks: list[Task], groups: list[int]) -> Fraction:
    sums: dict[int, Fraction] = {}
    for (base, candidate), group in zip(exact(tasks), groups, strict=True):
        sums[group] = sums.get(group, Fraction(0)) + change(base, candidate)
    seen = abs(sum(sums.values()))
    flips = list(product((1, -1), repeat=len(sums)))
    hits = sum(
        abs(sum(s * d for s, d in zip(signs, sums.values(), strict=True))) >= seen
        for signs in flips
    )
    return Fraction(hits, len(flips))


def within(tasks: list[Task]) -> Fraction:
    each = []
    for base, candidate in exact(tasks):
        pooled, outcomes = base + candidate, []
        for chosen in combinations(range(len(pooled)), len(base)):
            rest = [value for place, value in enumerate(pooled) if place not in chosen]
            outcomes.append(change([pooled[place] for place in chosen], rest))
        each.append(outcomes)
    seen = abs(sum(change(base, candidate) for base, candidate in exact(tasks)))
    sums = [abs(sum(outcome)) for outcome in product(*each)]
    return Fraction(sum(total >= seen for total in sums), len(sums))


passes = st.sampled_from([0.0, 1.0])
rewards = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.7, 1.0, -0.5])


def tasks_of(values: st.SearchStrategy[float], *, repeats: int | None = None) -> st.SearchStrategy:
    def run(n: int) -> st.SearchStrategy:
        return st.lists(values, min_size=repeats or 1, max_size=repeats or n)

    return st.tuples(run(3), run(3))


@given(st.lists(tasks_of(passes) | tasks_of(rewards), min_size=1, max_size=3))
def test_within_tasks(tasks: list[Task]) -> None:
    """With few tasks p is the share of all ways to deal rollouts out within their tasks."""
    actual = within_of(tasks)
    assert actual.n_draws is None
    assert actual.p_value == pytest.approx(float(within(tasks)), abs=1e-12)


@given(st.lists(tasks_of(rewards, repeats=2) | tasks_of(passes, repeats=2), min_size=1, max_size=9))
def test_signs_of_tasks(tasks: list[Task]) -> None:
    """With equal repeats it is the share of all signs of the changes, however few changed."""
    actual = both_of(tasks)[0]
    assert actual.n_draws is None
    assert actual.p_value == pytest.approx(float(by_signs(tasks, list(range(len(tasks))))))


@given(st.lists(tasks_of(rewards, repeats=1), min_size=12, max_size=20))
def test_signs_of_groups(tasks: list[Task]) -> None:
    """Tasks of a group flip together."""
    groups = [7 * (place % 8) for place in range(len(tasks))]
    actual = both_of(tasks, groups)[0]
    assert actual.p_value == pytest.approx(float(by_signs(tasks, groups)))


def test_signs_need_equal_repeats() -> None:
    """Where repeats differ a flip is not as likely as what was seen: there is no such p."""
    assert both_of([([0.0], [1.0, 1.0])] * 8)[0].p_value is None


@pytest.mark.parametrize(("up", "down"), [(3, 0), (5, 0), (6, 0), (9, 3), (14, 6), (0, 20), (7, 7)])
def test_one_repeat_is_mcnemar(up: int, down: int) -> None:
    """With one repeat p is the binomial one, whether few or many tasks changed."""
    tasks: list[Task] = [([0.0], [1.0])] * up + [([1.0], [0.0])] * down + [([1.0], [1.0])] * 30
    tail = sum(comb(up + down, k) for k in range(min(up, down) + 1))
    exact_p = min(Fraction(2 * tail, 2 ** (up + down)), Fraction(1))
    for actual in both_of(tasks):
        assert actual.n_draws is None
        assert actual.p_value == pytest.approx(float(exact_p), abs=1e-12)


def test_many_signs_of_rewards_are_drawn() -> None:
    """Rewards that are no whole steps are drawn: the mean of many is nearly normal."""
    random = np.random.default_rng(2)
    rewards = np.round(random.random((60, 2)), 3)
    actual = both_of([([a], [b]) for a, b in rewards])[0]
    changes = rewards[:, 1] - rewards[:, 0]
    assert actual.n_draws is not None
    normal = 2 * ndtr(-abs(changes.sum()) / np.sqrt((changes**2).sum()))
    assert actual.p_value == pytest.approx(normal, abs=0.06)


def test_a_change_beyond_all_chance() -> None:
    """However clear a change, p is not 0: of draws what was seen is one."""
    for repeats in ([0.0], [0.0, 0.0]):
        actual = within_of([(repeats, [1.0])] * 200)
        assert actual.p_value is not None and 0 < actual.p_value < 1e-12
    assert both_of([([0.1], [0.91])] * 100 + [([0.2], [0.83])] * 100)[0].p_value == 1 / 10_000


def fisher(base: tuple[int, int], candidate: tuple[int, int]) -> float:
    """Of one task: passes of the base as far from their expectation as these, or farther."""
    (a, n_base), (b, n_candidate) = base, candidate
    n, passed = n_base + n_candidate, a + b
    far = abs(Fraction(b, n_candidate) - Fraction(a, n_base))
    hits = sum(
        comb(passed, k) * comb(n - passed, n_base - k)
        for k in range(max(0, n_base - n + passed), min(passed, n_base) + 1)
        if abs(Fraction(passed - k, n_candidate) - Fraction(k, n_base)) >= far
    )
    return float(Fraction(hits, comb(n, n_base)))


@pytest.mark.parametrize(
    ("base", "candidate"),
    [((5, 64), (17, 64)), ((30, 60), (11, 40)), ((3, 5), (9, 11)), ((500, 1024), (560, 1000))],
)
def test_one_task_of_many_repeats(base: tuple[int, int], candidate: tuple[int, int]) -> None:
    """One task is an exact test of its own, however many repeats it has."""
    runs = [[1.0] * passed + [0.0] * (n - passed) for passed, n in (base, candidate)]
    actual = within_of([(runs[0], runs[1])])
    assert actual.n_draws is None
    assert actual.p_value == pytest.approx(fisher(base, candidate), rel=1e-9)


def simulated(
    seed: int, n: int, fewest: int, most: int, *, effect: float = 0, is_graded: bool = False
) -> list[Task]:
    random = np.random.default_rng(seed)
    tasks = []
    for rate in random.random(n):
        runs = [
            np.round(np.clip(random.normal(rate + shift, 0.3, k), 0, 1), 2)
            if is_graded
            else (random.random(k) < rate + shift).astype(float)
            for shift, k in zip((0, effect), random.integers(fewest, most + 1, 2), strict=True)
        ]
        tasks.append((runs[0].tolist(), runs[1].tolist()))
    return tasks


@pytest.mark.parametrize("is_graded", [False, True])
@pytest.mark.parametrize(("fewest", "most"), [(1, 3), (9, 12)])
def test_drawn_within_tasks(fewest: int, most: int, is_graded: bool) -> None:
    """Draws within tasks come close to shuffling every task's rollouts, one draw at a time."""
    tasks = simulated(3, 40, fewest, most, effect=0.08, is_graded=is_graded)
    actual = within_of(tasks)
    assert actual.p_value is not None and (actual.n_draws is not None or not is_graded)
    random, n_shuffles = np.random.default_rng(9), 4000
    sums = np.zeros(n_shuffles)
    for base, candidate in tasks:
        shuffled = random.permuted(np.tile([*base, *candidate], (n_shuffles, 1)), axis=1)
        sums += shuffled[:, len(base) :].mean(axis=1) - shuffled[:, : len(base)].mean(axis=1)
    seen = abs(sum(np.mean(candidate) - np.mean(base) for base, candidate in tasks))
    share = np.mean(np.abs(sums) >= seen - 1e-9)
    drawn = 0 if actual.n_draws is None else 1 / actual.n_draws
    error = np.sqrt(actual.p_value * (1 - actual.p_value) * (1 / n_shuffles + drawn))
    assert actual.p_value == pytest.approx(share, abs=5 * error + 0.001)


def test_many_alike_tasks() -> None:
    """A thousand tasks of 8 and 4 repeats: p is the normal one of their summed variances."""
    base, candidate = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]
    more = [1.0, 1.0, 0.0, 0.0]
    tasks: list[Task] = [(base, candidate)] * 420 + [(base, more)] * 580
    actual = within_of(tasks)
    # Of 4 and 5 passes in 12, the variance of the passes of the base, and of a change.
    square = 420 * 8 * 4 * 4 * 8 / (144 * 11) + 580 * 8 * 4 * 5 * 7 / (144 * 11)
    seen = 420 * (1 / 4 - 3 / 8) + 580 * (2 / 4 - 3 / 8)
    # A sum moves in steps of 3/8: the normal one reaches half a step nearer.
    distance = (seen - 3 / 16) / (np.sqrt(square) * (1 / 8 + 1 / 4))
    assert actual.n_draws is None
    assert actual.p_value == pytest.approx(2 * ndtr(-distance), rel=0.02)


@pytest.mark.parametrize("is_graded", [False, True])
@pytest.mark.parametrize(("fewest", "most"), [(4, 4), (3, 5)])
def test_order_and_direction_do_not_matter(fewest: int, most: int, is_graded: bool) -> None:
    """Tasks and rollouts in another order, or runs swapped: p is the same to the last digit."""
    for seed in range(2):
        tasks = simulated(seed, 45, fewest, most, effect=0.08, is_graded=is_graded)
        actual = both_of(tasks)
        random = np.random.default_rng(seed)
        shuffled = [
            tuple(random.permutation(run).tolist() for run in tasks[place])
            for place in random.permutation(len(tasks))
        ]
        assert both_of(shuffled) == actual
        assert both_of([(candidate, base) for base, candidate in shuffled]) == actual


def test_sums_of_floats_in_another_order() -> None:
    """Rewards that sum to another last digit in another order are drawn alike."""
    random = np.random.default_rng(8)
    for rewards in random.normal(0.1, 1, (10, 24, 2, 6)):
        assert both_of(rewards.tolist()) == both_of(rewards[:, :, ::-1].tolist())


@pytest.mark.parametrize("values", [(0.0, 0.0), (1.0, 1.0), (0.3, 0.3)])
def test_no_change(values: tuple[float, float]) -> None:
    """Where no task changed p is 1, and -0 is 0."""
    for one in ([([values[0]], [values[1]])] * 50, [([0.0, 1.0], [1.0, -0.0])] * 50):
        assert [actual.p_value for actual in both_of(one)] == [1, 1]


def test_equal_sums_stay_equal() -> None:
    """Tenths that sum to nothing in decimals sum to nothing here: p is 1, by signs and within."""
    up, down = ([0.1, 0.2], [0.3, 0.1]), ([0.3, 0.1], [0.1, 0.2])
    assert [actual.p_value for actual in both_of([up, down] * 30)] == [1, 1]
    uneven_up, uneven_down = ([0.1, 0.2], [0.25]), ([0.3, 0.1], [0.1])
    assert within_of([uneven_up, uneven_down] * 30).p_value == 1


def test_no_tasks() -> None:
    """Without tasks there is no p; a task without rollouts of a run is refused."""
    assert [actual.p_value for actual in both_of([])] == [None, None]
    with pytest.raises(ValueError, match="rollouts of both runs"):
        both_of([([1.0], [])])


def test_changes_that_are_rounding_alone_are_no_change() -> None:
    """Of rewards that differ by single precision every choice of signs is as far from 0."""
    rewards = np.tile([0.3, 0.3 + 1e-8], 5_000)
    once = np.ones(5_000, dtype=np.int64)
    by_signs, _ = permutation.change_p_values(rewards, once, once)
    assert by_signs.p_value == 1.0
