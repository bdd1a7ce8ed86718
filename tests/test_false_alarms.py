"""How often a rule fires where nothing changed: simulated, and from a rerun."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pipeline.analysis import stats
from pipeline.analysis.false_alarms import false_alarms, shrunken_rates, simulated


def test_shrunken_rates_by_hand() -> None:
    """Rates 0, 1/2, 1 of four repeats: noise 1/36, spread 1/4, so 8/9 of a distance is kept."""
    # Within: 0, 1/4 x 4/3 = 1/3, 0, on average 1/9; over four repeats 1/36. Between 1/4 - 1/36.
    actual = shrunken_rates(np.array([0, 2, 4]), np.array([4, 4, 4]))
    assert actual.tolist() == pytest.approx([0.5 - 4 / 9, 0.5, 0.5 + 4 / 9])


def suite(n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return random.integers(6, 9, n), random.integers(3, 9, n), np.round(random.random(n), 1)


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("n", [60, 2500])
def test_false_alarm_rate_is_simulation(n: int) -> None:
    """It is what simulating every rollout gives, with few alike tasks and with many."""
    base, candidate, rates = suite(n)
    actual = simulated(base, candidate, rates)
    random, n_pairs = np.random.default_rng(2), 1000
    d = random.binomial(candidate, rates, (n_pairs, n)) / candidate
    d -= random.binomial(base, rates, (n_pairs, n)) / base
    mean, se = d.mean(axis=1), d.std(axis=1, ddof=1) / np.sqrt(n)
    size, bounded = np.full(n_pairs, float(n)), np.full(n_pairs, True)
    low, high = stats.change_interval(mean, se, size, size - 1, is_bounded=bounded)
    unseen = 1 - 0.025 ** (1 / n)
    assert actual is not None
    assert np.mean(actual.low > 0) == pytest.approx(np.mean(low > 0), abs=0.02)
    assert np.mean(actual.high < 0) == pytest.approx(np.mean(high < 0), abs=0.02)
    assert np.mean(actual.is_above(-0.05)) == pytest.approx(
        np.mean(np.minimum(low, mean - unseen * (1 + mean)) > -0.05), abs=0.08
    )
    # What a verdict needs besides the interval fires less often, never more.
    verdict = false_alarms(actual, margin=0.02)
    assert 0.01 <= verdict["either"] <= np.mean((actual.low > 0) | (actual.high < 0)) <= 0.07
    assert verdict["either"] == pytest.approx(verdict["improved"] + verdict["regressed"])


@pytest.mark.slow
def test_tasks_in_any_order() -> None:
    """The order of tasks changes no digit."""
    base, candidate, rates = suite(200)
    order = np.random.default_rng(3).permutation(200)
    passed = np.minimum(base, 3) + np.minimum(candidate, 2)
    for inputs, is_rerun in ((rates, False), (passed, True)):
        actual, again = (
            simulated(*columns, is_rerun=is_rerun, n_simulations=300)
            for columns in (
                (base, candidate, inputs),
                (base[order], candidate[order], inputs[order]),
            )
        )
        assert actual is not None and again is not None
        assert actual.low.tolist() == again.low.tolist()
        assert actual.p_value.tolist() == again.p_value.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("n", [80, 3000])
def test_rerun(n: int) -> None:
    """Rollouts of two runs of one model, dealt out at random, set off the 5% rule in about 5%."""
    random = np.random.default_rng(4)
    base, rerun, rates = suite(n)
    passed = random.binomial(base, rates) + random.binomial(rerun, rates)
    actual = false_alarms(simulated(base, rerun, passed, is_rerun=True), margin=0.02)
    assert 0.02 <= actual["either"] <= 0.07
    assert actual["improved"] + actual["regressed"] == pytest.approx(actual["either"])


def test_rerun_by_hand() -> None:
    """Six tasks with a pass in 1 + 1: all moves agree in 1 of 64 deals each way, and are called.

    Five that gain and one that loses have the interval -0.19 to 1: that says nothing.
    """
    one = np.ones(6, int)
    shown = simulated(one, one, one, is_rerun=True, n_simulations=20_000)
    actual = false_alarms(shown, margin=0.02)
    assert actual["improved"] == pytest.approx(1 / 64, abs=0.004)
    assert actual["regressed"] == pytest.approx(1 / 64, abs=0.004)


def test_too_few_tasks() -> None:
    """Of fewer than two tasks no rule can speak: undefined."""
    for n in (0, 1):
        actual = false_alarms(simulated(*(column[:n] for column in suite(4))), margin=0.02)
        assert math.isnan(actual["either"]) and math.isnan(actual["no_change"])
