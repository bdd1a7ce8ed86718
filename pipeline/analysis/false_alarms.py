"""How often a rule would call a change where there is none: both runs from the same rates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .claims import IMPROVED, NO_CHANGE, REGRESSED, Evidence
from .permutation import change_p_values, passing_values
from .stats import (
    ROUNDING,
    Counts,
    Numbers,
    change_interval,
    mean,
    mean_and_error,
    t_test,
    unseen_share,
)

N_SIMULATIONS = 2000
# Passes that are worked on at a time.
CHUNK = 2**20
ALARMS = ("improved", "regressed", "either", "no_change")


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
        weight = np.where(noise > 0, between / (between + noise), 1.0)
    return np.clip(middle + weight * (rates - middle), 0, 1)


def simulated(
    n_base: Counts,
    n_candidate: Counts,
    observed: NDArray[Any],
    *,
    is_rerun: bool = False,
    n_simulations: int = N_SIMULATIONS,
) -> Evidence | None:
    """What equal runs show; None of fewer than two tasks.

    `observed` is the rate of each task, from which both runs are simulated with their own repeats.
    With a real rerun of the base for a candidate it is the passes of both: each task's rollouts are
    dealt out at random.
    """
    # The tasks in an order of their own, not that in which they came.
    order = np.lexsort((observed, n_candidate, n_base))
    n_base, n_candidate, observed = n_base[order], n_candidate[order], observed[order]
    n_tasks = len(order)
    if n_tasks < 2:
        return None
    seed = np.concatenate((n_base, n_candidate, observed)).astype("<f8").view("<u8")
    random = np.random.default_rng(seed)
    at_once = max(CHUNK // n_tasks, 1)
    parts = []
    for start in range(0, n_simulations, at_once):
        shape = (min(at_once, n_simulations - start), n_tasks)
        if is_rerun:
            base = random.hypergeometric(observed, n_base + n_candidate - observed, n_base, shape)
            candidate = observed - base
        else:
            base = random.binomial(n_base, observed, shape)
            candidate = random.binomial(n_candidate, observed, shape)
        parts.append(_shown(n_base, n_candidate, base, candidate))
    return Evidence(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def false_alarms(evidence: Evidence | None, *, margin: float) -> dict[str, float]:
    """How often a verdict calls a change, which way, and how often it says that there is none."""
    if evidence is None:
        return dict.fromkeys(ALARMS, np.nan)
    verdicts = evidence.verdict(margin)
    shares = [float(np.mean(verdicts == word)) for word in (IMPROVED, REGRESSED, NO_CHANGE)]
    return dict(zip(ALARMS, (*shares[:2], sum(shares[:2]), shares[2]), strict=True))


def _shown(
    n_base: Counts,
    n_candidate: Counts,
    base: Counts,
    candidate: Counts,
) -> tuple[Numbers, ...]:
    """The fields of `Evidence` of simulated pairs; what cannot matter of the tests is 1."""
    _, moved, se = mean_and_error(n_base, n_candidate, base, candidate)
    size = np.full(len(moved), float(len(n_base)))
    low, high = change_interval(moved, se, size, size - 1, is_bounded=size > 0)
    wide = _wide(low, high, moved, unseen_share(size))
    by_t = t_test(moved, se, size, size - 1, scale=np.ones(len(moved)))
    p_value = np.ones(len(moved))
    for place in np.flatnonzero((low > ROUNDING) | (high < -ROUNDING)):
        values = passing_values((n_base, n_candidate), (base[place], candidate[place]))
        signs, dealt = change_p_values(values, n_base, n_candidate)
        p_mean = by_t[place] if signs.p_value is None else signs.p_value
        p_value[place] = max(p_mean, dealt.p_value or 0)
    return low, high, moved, moved, *wide, p_value


def allowing(evidence: Evidence, unseen: float) -> Evidence:
    """The same with another share of unseen tasks; nothing is missing, so bounds are the change."""
    wide = _wide(evidence.low, evidence.high, evidence.bound_low, unseen)
    return replace(evidence, wide_low=wide[0], wide_high=wide[1])


def _wide(
    low: Numbers, high: Numbers, moved: Numbers, unseen: Numbers | float
) -> tuple[Numbers, Numbers]:
    return np.minimum(low, moved - unseen * (1 + moved)), np.maximum(
        high, moved + unseen * (1 - moved)
    )
