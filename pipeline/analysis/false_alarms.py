"""How often a rule would call a change where there is none: both runs from the same rates."""

from __future__ import annotations

from collections.abc import Callable
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
    mean,
    t_test,
)

Fires = Callable[[Numbers, Numbers], Mask]
N_SIMULATIONS = 2000
# Passes that are worked on at a time.
CHUNK = 2**20


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
    middle = mean(rates)
    if not repeated.any():
        return np.full(len(rates), middle)
    within = mean((rates * (1 - rates) * n_scored / np.maximum(n_scored - 1, 1))[repeated])
    noise = within / n_scored
    spread = mean((rates - middle) ** 2) * len(rates) / max(len(rates) - 1, 1)
    between = max(spread - mean(noise), 0.0)
    with np.errstate(all="ignore"):
        kept = np.where(noise > 0, between / (between + noise), 1.0)
    return np.clip(middle + kept * (rates - middle), 0, 1)


def false_alarms(
    n_base: Counts,
    n_candidate: Counts,
    given: NDArray[Any],
    *,
    is_rerun: bool = False,
    margin: float,
    n_simulations: int = N_SIMULATIONS,
    fires: Fires | None = None,
) -> dict[str, float]:
    """How often a rule fires, and which way, and how often the interval is within the margin.

    `given` is the rate of each task, from which both runs are simulated with their own repeats.
    With a real rerun of the base for a candidate it is the passes of both: each task's rollouts are
    dealt out at random. By the rule of a verdict, whose tests have to agree, unless another is
    asked about.
    """
    # The tasks in an order of their own, not that in which they came.
    order = np.lexsort((given, n_candidate, n_base))
    n_base, n_candidate, given = n_base[order], n_candidate[order], given[order]
    n_tasks = len(order)
    if n_tasks < 2:
        return dict.fromkeys(("improved", "regressed", "either", "no_change"), np.nan)
    seed = np.concatenate((n_base, n_candidate, given)).astype("<f8").view("<u8")
    random = np.random.default_rng(seed)
    calls, within = np.zeros(n_simulations), np.zeros(n_simulations, dtype=bool)
    at_once = max(CHUNK // n_tasks, 1)
    for start in range(0, n_simulations, at_once):
        some = slice(start, min(start + at_once, n_simulations))
        shape = (some.stop - start, n_tasks)
        if is_rerun:
            base = random.hypergeometric(given, n_base + n_candidate - given, n_base, shape)
            candidate = given - base
        else:
            base = random.binomial(n_base, given, shape)
            candidate = random.binomial(n_candidate, given, shape)
        change = candidate / n_candidate - base / n_base
        moved, squares = change.mean(axis=1), (change**2).sum(axis=1)
        spread = ((change - moved[:, None]) ** 2).sum(axis=1)
        # What rounding leaves of equal differences is no spread.
        se = np.sqrt(np.where(spread > ROUNDING * squares, spread, 0) / (n_tasks - 1) / n_tasks)
        size = np.full(len(moved), float(n_tasks))
        low, high = change_interval(moved, se, size, size - 1, is_bounded=size > 0)
        fired = (fires or excludes_zero)(low, high)
        if fires is None:
            by_t = t_test(moved, se, size, size - 1, scale=np.ones(len(moved)))
            for place in np.flatnonzero(fired):
                values = passing_values((n_base, n_candidate), (base[place], candidate[place]))
                signs, dealt = change_p_values(values, n_base, n_candidate)
                p_mean = by_t[place] if signs.p_value is None else signs.p_value
                fired[place] = max(p_mean, dealt.p_value or 0) <= MOST_BY_CHANCE
        calls[some] = np.where(fired, np.sign(moved), 0)
        within[some] = (-margin < low) & (high < margin)
    return {
        "improved": float(np.mean(calls > 0)),
        "regressed": float(np.mean(calls < 0)),
        "either": float(np.mean(calls != 0)),
        "no_change": float(np.mean(within)),
    }
