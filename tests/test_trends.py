"""The trend of a task along a series, and what noise makes of its ends: by hand and by counting."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.analysis import trends

# Of a task: passed and scored, run by run.
Task = list[tuple[int, int]]


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    """A task small enough to deal its passes to its repeats in every way there is."""
    repeats = draw(st.lists(st.integers(1, 3), min_size=2, max_size=4))
    return [(draw(st.integers(0, n)), n) for n in repeats]


def dealt(task: Task) -> list[list[int]]:
    """Passes of each run, for every choice of as many repeats as passed."""
    runs = [run for run, (_, n) in enumerate(task) for _ in range(n)]
    n_passed = sum(passed for passed, _ in task)
    return [
        [chosen.count(run) for run in range(len(task))] for chosen in combinations(runs, n_passed)
    ]


def chances(task: Task) -> tuple[float, float]:
    """Slope and p, from the sums that SQL makes."""
    passed, n = (np.array(column, dtype=np.int64) for column in zip(*task, strict=True))
    place = np.arange(1, len(task) + 1)
    sums = (n, passed, n * place, n * place**2, passed * place)
    slope, p_value = trends.trend(*(np.array([part.sum()]) for part in sums))
    return float(slope[0]), float(p_value[0])


def turned(task: Task, *, none: int, half: int) -> float:
    """The chance that the run `none` passes nothing and the run `half` half or more."""
    counts = (
        sum(n for _, n in task),
        sum(passed for passed, _ in task),
        task[none][1],
        task[half][1],
    )
    return float(trends.chance_of_turn(*(np.array([count]) for count in counts))[0])


@given(tasks())
def test_trend_is_that_of_relabelled_repeats(task: Task) -> None:
    """The statistic is as far out as it is among all ways to deal the passes; p is normal."""
    total, n = (sum(column) for column in zip(*task, strict=True))
    slope, p_value = chances(task)
    if total in (0, n):
        assert math.isnan(p_value) and slope == 0
        return
    values = [
        Fraction(sum(place * count for place, count in enumerate(counts, 1)))
        for counts in dealt(task)
    ]
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / len(values)
    seen = sum(place * passed for place, (passed, _) in enumerate(task, 1))
    distance = abs(seen - mean) / math.sqrt(variance)
    assert p_value == pytest.approx(math.erfc(distance / math.sqrt(2)))
    assert np.sign(slope) == np.sign(float(seen - mean))


@given(tasks())
def test_slope_is_that_of_least_squares(task: Task) -> None:
    """The slope is what a line through all repeats, passes as 1, would have."""
    x = [place for place, (_, n) in enumerate(task, 1) for _ in range(n)]
    y = [float(index < passed) for passed, n in task for index in range(n)]
    assert chances(task)[0] == pytest.approx(np.polyfit(x, y, 1)[0], abs=1e-9)


@given(tasks())
def test_expected_turns_are_counted(task: Task) -> None:
    """The chance of a learned and of a forgotten task is its share of all ways to deal."""
    ways = dealt(task)
    first, last = task[0][1], task[-1][1]
    learned = [way for way in ways if way[0] == 0 and 2 * way[-1] >= last]
    forgotten = [way for way in ways if way[-1] == 0 and 2 * way[0] >= first]
    assert turned(task, none=0, half=-1) == pytest.approx(len(learned) / len(ways), abs=1e-12)
    assert turned(task, none=-1, half=0) == pytest.approx(len(forgotten) / len(ways), abs=1e-12)


def test_tasks_of_equal_runs_are_seldom_noisy() -> None:
    """Half of all signs are negative by chance; after the test hardly a task is left, a swap is."""
    random = np.random.default_rng(6)
    n_tasks, n_runs, k = 40, 6, 4
    n_false = 0
    for _ in range(20):
        rates = np.repeat(random.random((n_tasks, 1)), n_runs, axis=1)
        n_false += int((noisy(random.binomial(k, rates), k) <= 0.05).sum())
    assert n_false <= 4
    # Runs that differ, and one task whose verdict is turned round.
    rates = np.clip(random.random((n_tasks, 1)) * 0.2 + np.linspace(0.1, 0.8, n_runs), 0, 1)
    rates[7] = rates[7, ::-1]
    actual = noisy(random.binomial(8, rates), 8)
    assert actual[7] <= 0.05 and (actual <= 0.05).sum() == 1


def noisy(passed: np.ndarray, k: int) -> np.ndarray:
    """Q of each task, from the passes of each run, by the sums that SQL gives."""
    rates = passed / k
    rest = (rates.sum(axis=0) - rates) / (len(rates) - 1)
    off = rest - rest.mean(axis=1, keepdims=True)
    table = pa.table(
        {
            "benchmark": ["x"] * len(rates),
            "n_scored": np.full(len(rates), k * rates.shape[1]),
            "n_passed": passed.sum(axis=1),
            "sum_rest": (k * off).sum(axis=1),
            "sum_square_rest": (k * off**2).sum(axis=1),
            "sum_passed_rest": (passed * off).sum(axis=1),
        }
    )
    return np.nan_to_num(trends.discriminations(table)["q_noisy"].to_numpy(), nan=1.0)
