"""Differences of pairs: a mean with its test and interval, and the q-values of many tests."""

from __future__ import annotations

import numpy as np

from pipeline.analysis.stats.intervals import LEVEL, Numbers
from pipeline.analysis.stats.strata import ROUNDING


def paired_test(
    mean: Numbers, se: Numbers, n_pairs: Numbers, *, scale: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """p, and both ends of the interval, of a mean difference by Student's t; NaN below two pairs.

    Differences that are all alike have no spread to judge by: their p is the chance that all signs
    agree, and they have no interval. `scale` is the size of what was subtracted.
    """
    from scipy.special import stdtr, stdtrit

    is_level = np.abs(mean) <= ROUNDING * scale
    is_spread = se > ROUNDING * scale
    degrees = np.maximum(n_pairs - 1, 1)
    with np.errstate(all="ignore"):
        by_spread = 2 * stdtr(degrees, -np.abs(np.where(is_level, 0, mean)) / se)
        by_signs = np.where(is_level, 1, np.exp2(-degrees))
    half = np.where(is_spread & (n_pairs > 1), stdtrit(degrees, (1 + LEVEL) / 2) * se, np.nan)
    p_value = np.where(n_pairs > 1, np.where(is_spread, by_spread, by_signs), np.nan)
    return p_value, mean - half, mean + half


def q_values(p_values: Numbers) -> Numbers:
    """Benjamini and Hochberg's: the share of false finds among those at least as clear as each.

    A test that is undefined takes no part.
    """
    q = np.full(len(p_values), np.nan)
    tested = np.flatnonzero(~np.isnan(p_values))
    order = tested[np.argsort(p_values[tested], kind="stable")]
    raised = p_values[order] * (len(order) / np.arange(1, len(order) + 1))
    q[order] = np.minimum(np.minimum.accumulate(raised[::-1])[::-1], 1)
    return q
