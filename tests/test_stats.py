"""Intervals and votes against their definitions, and intervals against simulated truth."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.analysis import stats
from pipeline.analysis.votes import plurality
from tests import uncertainty_reference

N_DRAWS = 2000


def two_answers(n_right: int, n_wrong: int, k: int) -> Fraction:
    """maj@k of two answers, one right: more than half of the k, half of the ties."""
    n = n_right + n_wrong
    total = Fraction(0)
    for taken in range(max(0, k - n_wrong), min(k, n_right) + 1):
        share = Fraction(comb(n_right, taken) * comb(n_wrong, k - taken), comb(n, k))
        total += share * (1 if 2 * taken > k else Fraction(1, 2) if 2 * taken == k else 0)
    return total


@pytest.mark.parametrize("n", [31, 32])
def test_plurality_of_many(n: int) -> None:
    """Up to 32 repeats the count of subsets is exact."""
    split = [(n - 13, n - 13), (13, 0)]
    exact = [float(two_answers(n - 13, 13, k)) for k in range(1, n + 1)]
    assert plurality(split).tolist() == pytest.approx(exact, abs=1e-12)


def test_drawn_plurality() -> None:
    """Beyond 32 repeats draws come close, the same ones each time, in any order of votes."""
    split = [(23, 23), (17, 0)]
    actual = plurality(split)
    exact = [float(two_answers(23, 17, k)) for k in range(1, 41)]
    assert actual.tolist() == pytest.approx(exact, abs=0.05)
    assert actual[-1] == 1.0
    assert plurality(split[::-1]).tolist() == actual.tolist()


@given(
    value=st.floats(0, 1),
    se=st.floats(0, 0.3),
    n_mixed=st.integers(0, 20),
    is_bounded=st.booleans(),
)
def test_same_tasks_interval(value: float, se: float, n_mixed: int, is_bounded: bool) -> None:
    """The normal interval, given only with ten mixed tasks, cut where rewards have bounds."""
    exact = uncertainty_reference.same_tasks_interval(
        Fraction(value), se, n_mixed, is_bounded=is_bounded
    )
    actual = stats.same_tasks_interval(
        *(np.array([float(x)]) for x in (value, se, n_mixed)), is_bounded=np.array([is_bounded])
    )
    if exact == (None, None):
        assert np.isnan(actual).all()
    else:
        assert [bound[0] for bound in actual] == pytest.approx(exact, abs=1e-9)


def covers(low: stats.Numbers, high: stats.Numbers, truth: stats.Numbers | float) -> float:
    return float(((low <= truth) & (truth <= high)).mean())


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 5, 8])
def test_same_tasks_interval_covers(k: int) -> None:
    """Of 100 fixed tasks sampled again, the 95% interval holds the true mean 93% to 97%."""
    random = np.random.default_rng(k)
    chance = random.beta(1, 1, size=100)
    rate = random.binomial(k, chance, size=(N_DRAWS, 100)) / k
    value = rate.mean(axis=1)
    se = np.sqrt((rate * (1 - rate) / (k - 1)).sum(axis=1)) / 100
    n_mixed = ((rate > 0) & (rate < 1)).sum(axis=1).astype(float)
    bounded = np.full(N_DRAWS, True)
    low, high = stats.same_tasks_interval(value, se, n_mixed, is_bounded=bounded)
    assert 0.93 <= covers(low, high, chance.mean()) <= 0.97
