"""Intervals of a change, what can be detected, Holm's correction and the verdict, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri, stdtrit

from pipeline.analysis import stats

NAN = math.nan


def interval(mean: float, se: float, n: float, *, is_bounded: bool = True) -> tuple[float, float]:
    numbers = (np.array([float(number)]) for number in (mean, se, n, n - 1))
    low, high = stats.change_interval(*numbers, is_bounded=np.array([is_bounded]))
    return float(low[0]), float(high[0])


def test_change_interval_by_hand() -> None:
    """Four tasks changed by 1/2, 0, 1/4, 1/4: the mean is 1/4, its error sqrt(1/24)/2."""
    half = 3.182446305284263 * math.sqrt(1 / 24) / 2  # t(0.975; 3)
    assert interval(0.25, math.sqrt(1 / 24) / 2, 4) == pytest.approx((0.25 - half, 0.25 + half))


def test_change_interval_is_cut_where_rates_end() -> None:
    """A rate cannot change by more than 1; a reward can."""
    half = 0.2 * 3.182446305284263  # t(0.975; 3)
    assert interval(0.9, 0.2, 4) == pytest.approx((0.9 - half, 1))
    assert interval(0.9, 0.2, 4, is_bounded=False) == pytest.approx((0.9 - half, 0.9 + half))


@pytest.mark.parametrize("residue", [0.0, 1e-17])
def test_nothing_differs(residue: float) -> None:
    """Where none of 100 tasks changed, at 2.5% up to 3.6% of all tasks could yet have."""
    half = 1 - 0.025**0.01
    assert (1 - half) ** 100 == pytest.approx(0.025)
    assert interval(0, residue, 100) == pytest.approx((-half, half))
    # Those that could be otherwise could have lost all: 1 less so many, and as many less again.
    assert interval(1, residue, 100) == pytest.approx((1 - 2 * half, 1))
    # As the exact test of signs has it, six gains and no loss tell; five do not.
    assert interval(1, residue, 6)[0] > 0 > interval(1, residue, 5)[0]
    assert np.isnan(interval(0, residue, 100, is_bounded=False)).all()


@pytest.mark.parametrize("n", [0, 1])
def test_one_task_has_no_interval(n: int) -> None:
    """Fewer than two tasks say nothing of new ones, nor does an undefined error."""
    for is_bounded in (True, False):
        assert np.isnan(interval(0.5, 0.1, n, is_bounded=is_bounded)).all()
    assert np.isnan(interval(0.5, NAN, 5)).all()


@given(st.floats(-1, 1), st.floats(0, 0.5), st.integers(2, 500), st.booleans())
def test_the_other_way_round(mean: float, se: float, n: int, is_bounded: bool) -> None:
    """Base and candidate swapped, the interval is mirrored; it holds the change."""
    low, high = interval(mean, se, n, is_bounded=is_bounded)
    mirrored = interval(-mean, se, n, is_bounded=is_bounded)
    assert mirrored == pytest.approx((-high, -low), nan_ok=True)
    assert np.isnan(low) or low <= mean <= high


def test_same_tasks_change_interval() -> None:
    """The normal interval, from ten mixed tasks on."""
    mean, se = np.full(3, 0.1), np.array([0.02, 0.02, NAN])
    low, high = stats.same_tasks_change_interval(mean, se, np.array([9.0, 10.0, 10.0]))
    half = 0.02 * 1.959963984540054
    assert low.tolist() == pytest.approx([NAN, 0.1 - half, NAN], nan_ok=True)
    assert high.tolist() == pytest.approx([NAN, 0.1 + half, NAN], nan_ok=True)


def test_detectable() -> None:
    """Quantiles of 97.5% and 80% add up; without a spread or a second task there is none."""
    found = stats.detectable(
        np.array([0.02, 0.02, 0.0, 0.02, NAN]), np.array([99, np.inf, 99, 0, 99])
    )
    by_t = 0.02 * float(stdtrit(99, 0.975) + stdtrit(99, 0.8))
    by_normal = 0.02 * float(ndtri(0.975) + ndtri(0.8))
    assert by_normal == pytest.approx(0.02 * 2.801585218)
    assert found.tolist() == pytest.approx([by_t, by_normal, NAN, NAN, NAN], nan_ok=True)


def test_detectable_of_nothing() -> None:
    """What rounding leaves of equal differences is no spread to judge by."""
    assert np.isnan(stats.detectable(np.array([0.0, 1e-17]), np.array([9.0, 9.0]))).all()


def test_detectable_is_seen_four_times_in_five() -> None:
    """A true change of that size is found by the interval in 80% of simulated comparisons."""
    random = np.random.default_rng(5)
    se = 0.5 / np.sqrt(50)
    size = np.full(4000, 50.0)
    drawn = random.normal(stats.detectable(np.array([se]), size[:1] - 1)[0], 0.5, (4000, 50))
    mean, error = drawn.mean(axis=1), drawn.std(axis=1, ddof=1) / np.sqrt(50)
    low, _ = stats.change_interval(mean, error, size, size - 1, is_bounded=np.full(4000, False))
    assert np.mean(low > 0) == pytest.approx(0.8, abs=0.03)


def test_holm_by_hand() -> None:
    """Of four, the smallest times 4, the next times 3, never falling; NaN takes no part."""
    found = stats.holm(np.array([0.04, 0.01, NAN, 0.03, 0.5]))
    assert found.tolist() == pytest.approx([0.09, 0.04, NAN, 0.09, 0.5], nan_ok=True)
    assert stats.holm(np.array([0.6, 0.9])).tolist() == [1, 1]
    assert stats.holm(np.array([])).tolist() == []


@given(st.lists(st.floats(0, 1), max_size=6))
def test_holm_is_the_step_down(p_values: list[float]) -> None:
    """At any level it rejects what stepping down through the levels a/m, a/(m-1), ... rejects."""
    found = stats.holm(np.array(p_values))
    for level in (0.01, 0.05, 0.2):
        rejected = 0
        for place, p_value in enumerate(sorted(p_values)):
            if p_value * (len(p_values) - place) > level:
                break
            rejected += 1
        assert np.count_nonzero(found <= level) == rejected


@pytest.mark.parametrize(
    ("given_values", "said"),
    [
        ((0.01, 0.09, 0.05, 0.05), "improved"),
        ((0.0, 0.09, 0.05, 0.05), "inconclusive"),
        ((0.01, 0.09, 0.0, 0.05), "inconclusive"),
        ((0.01, 0.09, -0.02, 0.05), "inconclusive"),
        ((-0.09, -0.01, -0.05, -0.05), "regressed"),
        ((-0.09, 0.0, -0.05, -0.05), "inconclusive"),
        ((-0.09, -0.01, -0.05, 0.0), "inconclusive"),
        ((-0.015, 0.01, 0.0, 0.0), "no change"),
        ((-0.02, 0.01, 0.0, 0.0), "inconclusive"),
        ((-0.015, 0.02, 0.0, 0.0), "inconclusive"),
        ((-0.015, 0.01, -0.03, 0.0), "inconclusive"),
        ((-0.015, 0.01, 0.0, 0.03), "inconclusive"),
        ((0.001, 0.015, 0.008, 0.008), "improved"),
        ((0.001, 0.015, -0.001, 0.008), "no change"),
        ((NAN, NAN, 0.5, 0.5), "inconclusive"),
        ((0.01, 0.09, NAN, NAN), "inconclusive"),
        ((0.01, 0.09, 0.3 - 0.1 - 0.2, 0.05), "inconclusive"),
        ((1e-17, 0.09, 0.05, 0.05), "inconclusive"),
    ],
)
def test_verdict(given_values: tuple[float, float, float, float], said: str) -> None:
    """Interval and bounds both have to be clear; a value on a limit is not beyond it."""
    assert stats.verdict(*given_values, margin=0.02) == said


@given(*[st.floats(-0.1, 0.1)] * 4)
def test_verdict_the_other_way_round(a: float, b: float, c: float, d: float) -> None:
    """Base and candidate swapped, improved is regressed, and the rest is as it was."""
    (low, high), (bound_low, bound_high) = sorted((a, b)), sorted((c, d))
    opposite = {"improved": "regressed", "regressed": "improved"}
    said = stats.verdict(low, high, bound_low, bound_high, margin=0.02)
    swapped = stats.verdict(-high, -low, -bound_high, -bound_low, margin=0.02)
    assert swapped == opposite.get(said, said)


@pytest.mark.parametrize(
    ("said", "p_values", "held"),
    [
        ("improved", (0.05, 0.05), "improved"),
        ("improved", (0.051, 0.001), "inconclusive"),
        ("regressed", (0.001, 0.051), "inconclusive"),
        ("regressed", (NAN, 0.001), "inconclusive"),
        ("no change", (0.5, NAN), "no change"),
        ("inconclusive", (0.001, 0.001), "inconclusive"),
    ],
)
def test_decision(said: str, p_values: tuple[float, float], held: str) -> None:
    """A change is there where both tests say so; of none they say nothing."""
    assert stats.decision(said, *p_values) == held


def test_t_test_by_hand() -> None:
    """Four differences of mean 1/4: t is 2.449, p 0.0917; alike, the chance of equal signs."""
    mean, se = np.array([0.25, 0.25, 0.0, 0.25]), np.array([math.sqrt(1 / 24) / 2, 0.0, 0.0, 0.1])
    n = np.array([4.0, 6.0, 6.0, 1.0])
    found = stats.t_test(mean, se, n, n - 1, scale=np.ones(4))
    assert found.tolist() == pytest.approx([0.0917211, 2 / 2**6, 1, NAN], abs=1e-6, nan_ok=True)
