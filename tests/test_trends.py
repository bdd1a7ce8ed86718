"""The trend of a task along a series, and what noise makes of its ends: by hand and by counting."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
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


def asked(task: Task) -> tuple[float, float]:
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
    slope, p_value = asked(task)
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
    assert asked(task)[0] == pytest.approx(np.polyfit(x, y, 1)[0], abs=1e-9)


@given(tasks())
def test_expected_turns_are_counted(task: Task) -> None:
    """The chance of a learned and of a forgotten task is its share of all ways to deal."""
    ways = dealt(task)
    first, last = task[0][1], task[-1][1]
    learned = [way for way in ways if way[0] == 0 and 2 * way[-1] >= last]
    forgotten = [way for way in ways if way[-1] == 0 and 2 * way[0] >= first]
    assert turned(task, none=0, half=-1) == pytest.approx(len(learned) / len(ways), abs=1e-12)
    assert turned(task, none=-1, half=0) == pytest.approx(len(forgotten) / len(ways), abs=1e-12)
