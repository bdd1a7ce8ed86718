"""How often a rule would call a change where there is none: both runs from the same rates."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from pipeline.analysis.stats import (
    ROUNDING,
    Counts,
    Mask,
    Numbers,
    change_interval,
    hypergeometric,
    tally,
)

Fires = Callable[[Numbers, Numbers], Mask]
# Of the tasks of one kind, one entry per simulation: the sum of differences, and of their squares.
Moments = tuple[Numbers, Numbers]


@dataclass(frozen=True)
class FalseAlarms:
    """How often, of simulated comparisons of a run with itself, a rule fires, and which way."""

    improved: float
    regressed: float
    either: float
    within_margin: float  # how often the interval lies inside the margin: no change is then found
    n_simulations: int


def excludes_zero(low: Numbers, high: Numbers) -> Mask:
    """The rule of a verdict: an interval that does not hold 0, nor ends on it."""
    return np.asarray((low > ROUNDING) | (high < -ROUNDING))


def shrunken_rates(n_passed: Counts, n_scored: Counts) -> Numbers:
    """Pass rates of tasks drawn to their mean, by as much of their spread as is noise.

    The noise of a task is the mean variance within tasks over its repeats: by its own, a task that
    failed both its repeats would be sure to fail. Without repeats all of the spread may be noise.
    """
    rates = n_passed / n_scored
    repeated = n_scored > 1
    mean = _mean(rates)
    if not repeated.any():
        return np.full(len(rates), mean)
    within = _mean((rates * (1 - rates) * n_scored / np.maximum(n_scored - 1, 1))[repeated])
    noise = within / n_scored
    spread = _mean((rates - mean) ** 2) * len(rates) / max(len(rates) - 1, 1)
    between = max(spread - _mean(noise), 0.0)
    with np.errstate(all="ignore"):
        kept = np.where(noise > 0, between / (between + noise), 1.0)
    return np.clip(mean + kept * (rates - mean), 0, 1)


def _mean(values: Numbers) -> float:
    """The mean, the same in any order of the values."""
    return float(np.sort(values).mean()) if len(values) else np.nan


def false_alarm_rate(
    n_base: Counts,
    n_candidate: Counts,
    rates: Numbers,
    *,
    margin: float,
    n_simulations: int = 2000,
    fires: Fires = excludes_zero,
) -> FalseAlarms:
    """Both runs simulated from the same rates, each with its own repeats."""
    columns = np.stack((n_base, n_candidate, rates), axis=1)
    kinds, n_alike = np.unique(columns, axis=0, return_counts=True)
    random = _random(kinds, n_alike)

    def simulated(base: int, candidate: int, rate: float, n_tasks: int) -> Moments:
        if n_tasks > (base + 1) * (candidate + 1):
            values, chances = _differences(base, candidate, rate)
            return _counted(random, n_tasks, values, chances, n_simulations)
        shape = (n_simulations, n_tasks)
        passed = random.binomial(candidate, rate, shape) / candidate
        return _summed(passed - random.binomial(base, rate, shape) / base)

    moments = (
        simulated(int(base), int(candidate), rate, int(n_tasks))
        for (base, candidate, rate), n_tasks in zip(kinds, n_alike, strict=True)
    )
    return _alarms(moments, len(rates), n_simulations, margin, fires)


def rerun_false_alarm_rate(
    n_base: Counts,
    n_rerun: Counts,
    n_passed_base: Counts,
    n_passed_rerun: Counts,
    *,
    margin: float,
    n_simulations: int = 2000,
    fires: Fires = excludes_zero,
) -> FalseAlarms:
    """A real rerun of the base in place of rates: each task's rollouts, dealt out at random."""
    kinds, n_alike = tally(n_base, n_rerun, n_passed_base + n_passed_rerun)
    random = _random(kinds, n_alike)

    def dealt(kind: Counts, n_tasks: int) -> Moments:
        base, rerun, passed = kind
        _, of_base, chances = hypergeometric(*kind[:, None])
        if n_tasks > len(of_base):
            values = (passed - of_base) / rerun - of_base / base
            return _counted(random, n_tasks, values, chances, n_simulations)
        shape = (n_simulations, n_tasks)
        of_base = random.hypergeometric(passed, base + rerun - passed, base, shape)
        return _summed((passed - of_base) / rerun - of_base / base)

    moments = (dealt(kind, int(n_tasks)) for kind, n_tasks in zip(kinds, n_alike, strict=True))
    return _alarms(moments, len(n_base), n_simulations, margin, fires)


def _random(kinds: NDArray[np.generic], n_alike: Counts) -> np.random.Generator:
    """Seeded with the kinds of tasks, which come in order, and how many there are of each."""
    numbers = np.column_stack((kinds, n_alike)).astype("<f8")
    return np.random.default_rng(numbers.view("<u8").ravel())


def _differences(base: int, candidate: int, rate: float) -> tuple[Numbers, Numbers]:
    """What the rates of one task can differ by, and how likely each difference is."""
    chances = np.multiply.outer(_binomial(candidate, rate), _binomial(base, rate)).ravel()
    # In whole numbers equal differences are equal.
    whole = np.subtract.outer(np.arange(candidate + 1) * base, np.arange(base + 1) * candidate)
    distinct, place = np.unique(whole.ravel(), return_inverse=True)
    summed = np.asarray(np.bincount(place, chances), dtype=np.float64)
    return distinct / (base * candidate), summed


def _binomial(n: int, rate: float) -> Numbers:
    from scipy.special import gammaln, xlog1py, xlogy

    k = np.arange(n + 1)
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return np.asarray(np.exp(ways + xlogy(k, rate) + xlog1py(n - k, -rate)))


def _counted(
    random: np.random.Generator, n_tasks: int, values: Numbers, chances: Numbers, n: int
) -> Moments:
    """Many alike tasks: how many of them have each difference is drawn, not each of them."""
    counts = random.multinomial(n_tasks, chances / chances.sum(), n)
    return counts @ values, counts @ values**2


def _summed(differences: Numbers) -> Moments:
    return differences.sum(axis=1), (differences**2).sum(axis=1)


def _alarms(
    moments: Iterable[Moments], n_tasks: int, n_simulations: int, margin: float, fires: Fires
) -> FalseAlarms:
    total, squares = np.zeros(n_simulations), np.zeros(n_simulations)
    for own, own_squares in moments:
        total += own
        squares += own_squares
    with np.errstate(all="ignore"):
        mean = total / n_tasks
        spread = squares - total * mean
        # What rounding leaves of equal differences is no spread.
        spread = np.where(spread > ROUNDING * squares, spread, 0)
        se = np.sqrt(spread / (n_tasks - 1) / n_tasks)
    size, bounded = np.full(n_simulations, float(n_tasks)), np.full(n_simulations, True)
    low, high = change_interval(mean, se, size, size - 1, is_bounded=bounded)
    fired = fires(low, high)

    def share(found: Mask) -> float:
        return float(np.mean(found)) if n_tasks > 1 else nan

    return FalseAlarms(
        improved=share(fired & (mean > 0)),
        regressed=share(fired & (mean < 0)),
        either=share(fired),
        within_margin=share((-margin < low) & (high < margin)),
        n_simulations=n_simulations,
    )
