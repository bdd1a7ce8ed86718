"""A change between two runs: its intervals, what could have been seen, and what to say of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.analysis.stats.intervals import FEWEST_MIXED, LEVEL, Numbers
from pipeline.analysis.stats.strata import ROUNDING

# How often a change of the detectable size would be seen.
POWER = 0.80

IMPROVED, REGRESSED = "improved", "regressed"
NO_CHANGE, INCONCLUSIVE = "no change beyond margin", "inconclusive"


def change_interval(
    mean: Numbers, se: Numbers, n_units: Numbers, *, is_bounded: NDArray[np.bool_]
) -> tuple[Numbers, Numbers]:
    """Where the change on new tasks like these would lie; NaN with fewer than two units.

    Differences that are all alike have no spread. Up to a share of 1 - 0.025^(1/n) of all tasks
    could still be unlike these n; where rates bound them, those could lie as far off as 1 or -1.
    """
    from scipy.special import stdtrit

    by_spread = stdtrit(np.maximum(n_units - 1, 1), (1 + LEVEL) / 2) * se
    unseen = 1 - ((1 - LEVEL) / 2) ** (1 / np.maximum(n_units, 1))
    is_spread = _is_spread(mean, se)
    is_defined = (n_units > 1) & np.isfinite(se) & (is_spread | is_bounded)
    below = np.where(is_spread, by_spread, unseen * (1 + mean))
    above = np.where(is_spread, by_spread, unseen * (1 - mean))
    low, high = (np.where(is_defined, end, np.nan) for end in (mean - below, mean + above))
    return (
        np.where(is_bounded, np.maximum(low, -1), low),
        np.where(is_bounded, np.minimum(high, 1), high),
    )


def _is_spread(mean: Numbers, se: Numbers) -> NDArray[np.bool_]:
    """Do differences differ at all? What is left of a sum of equal floats is no spread."""
    return np.asarray(se > ROUNDING * np.maximum(np.abs(mean), 1))


def same_tasks_change_interval(
    mean: Numbers, se: Numbers, n_mixed: Numbers
) -> tuple[Numbers, Numbers]:
    """Where the change on these tasks, sampled again, would lie; NaN with too few mixed tasks."""
    from scipy.special import ndtri

    is_defined = (n_mixed >= FEWEST_MIXED) & np.isfinite(se)
    half = np.where(is_defined, ndtri((1 + LEVEL) / 2) * se, np.nan)
    return mean - half, mean + half


def detectable(se: Numbers, n_units: Numbers) -> Numbers:
    """The change that would be seen four times in five; NaN without a spread to judge by.

    Infinitely many units stand for a standard error that is known.
    """
    from scipy.special import ndtri, stdtrit

    is_known = np.isinf(n_units)
    degrees = np.where(is_known, 1, np.maximum(n_units - 1, 1))
    factors = [
        np.where(is_known, ndtri(share), stdtrit(degrees, share))
        for share in ((1 + LEVEL) / 2, POWER)
    ]
    is_defined = (n_units > 1) & np.isfinite(se) & (se > ROUNDING)
    return np.where(is_defined, sum(factors) * se, np.nan)


def holm(p_values: Numbers) -> Numbers:
    """Holm's: the chance that any of several equal candidates looks this clear.

    A test that is undefined takes no part.
    """
    adjusted = np.full(len(p_values), np.nan)
    tested = np.flatnonzero(~np.isnan(p_values))
    order = tested[np.argsort(p_values[tested], kind="stable")]
    raised = p_values[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(raised), 1)
    return adjusted


def verdict(low: float, high: float, bound_low: float, bound_high: float, margin: float) -> str:
    """What to say of a change: its interval with missing rows as failures, and its two bounds.

    The bounds are the change with every missing row against the candidate, and with every one in
    its favour. A value on a limit is not beyond it, nor is one that only rounding has put there.
    """
    if low > ROUNDING and bound_low > ROUNDING:
        return IMPROVED
    if high < -ROUNDING and bound_high < -ROUNDING:
        return REGRESSED
    inside = margin - ROUNDING
    if -inside < low and high < inside and -inside < bound_low and bound_high < inside:
        return NO_CHANGE
    return INCONCLUSIVE
