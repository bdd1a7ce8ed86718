"""How often a rule would call a change where there is none: both runs from the same rates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analysis.permutation import change_p_values, passing_values
from pipeline.analysis.stats import (
    MOST_BY_CHANCE,
    ROUNDING,
    Counts,
    Mask,
    Numbers,
    change_interval,
    t_test,
)

Fires = Callable[[Numbers, Numbers], Mask]
# Simulations of base and candidate: of each a row, of each task how many of its repeats pass.
Drawn = Callable[[np.random.Generator, tuple[int, int]], tuple[Counts, Counts]]
# Passes that are worked on at a time.
CHUNK = 2**20


@dataclass(frozen=True)
class FalseAlarms:
    """How often, of simulated comparisons of a run with itself, a rule fires, and which way."""

    improved: float
    regressed: float
    either: float
    within_margin: float  # how often the interval lies inside the margin: no change is then found
    n_simulations: int


def excludes_zero(low: Numbers, high: Numbers) -> Mask:
    """The interval's part of a verdict: it does not hold 0, nor ends on it."""
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
    fires: Fires | None = None,
) -> FalseAlarms:
    """Both runs simulated from the same rates, each with its own repeats.

    By the rule of a verdict, whose tests have to agree, unless another is asked about.
    """
    n_base, n_candidate, rates = _in_order(n_base, n_candidate, rates)

    def drawn(random: np.random.Generator, shape: tuple[int, int]) -> tuple[Counts, Counts]:
        return random.binomial(n_base, rates, shape), random.binomial(n_candidate, rates, shape)

    seed = np.concatenate((n_base, n_candidate, rates))
    return _alarms(drawn, seed, n_base, n_candidate, n_simulations, margin, fires)


def rerun_false_alarm_rate(
    n_base: Counts,
    n_rerun: Counts,
    n_passed_base: Counts,
    n_passed_rerun: Counts,
    *,
    margin: float,
    n_simulations: int = 2000,
    fires: Fires | None = None,
) -> FalseAlarms:
    """A real rerun of the base in place of rates: each task's rollouts, dealt out at random."""
    n_base, n_rerun, passed = _in_order(n_base, n_rerun, n_passed_base + n_passed_rerun)

    def drawn(random: np.random.Generator, shape: tuple[int, int]) -> tuple[Counts, Counts]:
        of_base = random.hypergeometric(passed, n_base + n_rerun - passed, n_base, shape)
        return of_base, passed - of_base

    seed = np.concatenate((n_base, n_rerun, passed))
    return _alarms(drawn, seed, n_base, n_rerun, n_simulations, margin, fires)


def _in_order(*columns: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """The tasks in an order of their own, not that in which they came."""
    order = np.lexsort(columns[::-1])
    return tuple(column[order] for column in columns)


def _alarms(
    drawn: Drawn,
    seed: NDArray[Any],
    n_base: Counts,
    n_candidate: Counts,
    n_simulations: int,
    margin: float,
    fires: Fires | None,
) -> FalseAlarms:
    n_tasks = len(n_base)
    if n_tasks < 2:
        return FalseAlarms(nan, nan, nan, nan, n_simulations)
    random = np.random.default_rng(seed.astype("<f8").view("<u8"))
    calls, within = np.zeros(n_simulations), np.zeros(n_simulations, dtype=bool)
    at_once = max(CHUNK // n_tasks, 1)
    for start in range(0, n_simulations, at_once):
        some = slice(start, min(start + at_once, n_simulations))
        base, candidate = drawn(random, (some.stop - start, n_tasks))
        change = candidate / n_candidate - base / n_base
        mean, squares = change.mean(axis=1), (change**2).sum(axis=1)
        spread = ((change - mean[:, None]) ** 2).sum(axis=1)
        # What rounding leaves of equal differences is no spread.
        se = np.sqrt(np.where(spread > ROUNDING * squares, spread, 0) / (n_tasks - 1) / n_tasks)
        size = np.full(len(mean), float(n_tasks))
        low, high = change_interval(mean, se, size, size - 1, is_bounded=size > 0)
        fired = (fires or excludes_zero)(low, high)
        if fires is None:
            by_t = t_test(mean, se, size, size - 1, scale=np.ones(len(mean)))
            for place in np.flatnonzero(fired):
                values = passing_values((n_base, n_candidate), (base[place], candidate[place]))
                signs, dealt = change_p_values(values, n_base, n_candidate)
                p_mean = by_t[place] if signs.p_value is None else signs.p_value
                fired[place] = max(p_mean, dealt.p_value or 0) <= MOST_BY_CHANCE
        calls[some], within[some] = (
            np.where(fired, np.sign(mean), 0),
            (-margin < low) & (high < margin),
        )
    return FalseAlarms(
        improved=float(np.mean(calls > 0)),
        regressed=float(np.mean(calls < 0)),
        either=float(np.mean(calls != 0)),
        within_margin=float(np.mean(within)),
        n_simulations=n_simulations,
    )
