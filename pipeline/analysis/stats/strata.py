"""A behaviour against pass and fail within tasks: on which side it is commoner, and by how much.

A task is a table of counts: a passed with the behaviour, b passed without, c failed with, d failed
without, n in all. What is read here are sums over tasks, an entry a behaviour.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.analysis.stats.intervals import LEVEL, Numbers

# Of a task: passed, failed, with the behaviour; and how many tasks are like that.
Stratum = tuple[int, int, int, int]

# Two sums of one size differ by this share of it where only rounding parts them.
ROUNDING = 1e-12
# Odds beyond e^50 are beyond any count of rollouts; halved so often, a double is exhausted.
FARTHEST_LOG_ODDS, N_HALVINGS = 50.0, 64


def lean(passed: Numbers, failed: Numbers) -> Numbers:
    """1 where the first is larger, -1 where the second is, 0 where they are alike."""
    difference = passed - failed
    is_alike = np.abs(difference) <= ROUNDING * np.maximum(np.abs(passed), np.abs(failed))
    return np.where(is_alike, 0, np.sign(difference))


def association_p_value(up: Numbers, down: Numbers, null_variance: Numbers) -> Numbers:
    """Cochran, Mantel and Haenszel's test, without continuity correction.

    `up` sums ad/n and `down` bc/n: their difference is what a exceeds its expectation by.
    `null_variance` sums the variances of a; where it is 0 no task can tell, and p is NaN.
    """
    from scipy.special import erfc

    excess = np.where(lean(up, down) == 0, 0, up - down)
    with np.errstate(all="ignore"):
        distance = np.abs(excess) / np.sqrt(null_variance)
        return np.where(null_variance > 0, erfc(distance / np.sqrt(2)), np.nan)


def common_odds_ratio(
    up: Numbers, down: Numbers, spread_up: Numbers, spread_across: Numbers, spread_down: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """Mantel and Haenszel's ratio with the interval of Robins, Breslow and Greenland.

    With P = (a+d)/n and Q = (b+c)/n the spreads sum P ad/n, P bc/n + Q ad/n, and Q bc/n. A ratio of
    0 or infinity has no such interval: see `edge_ratio_bound`.
    """
    from scipy.special import ndtri

    with np.errstate(all="ignore"):
        ratio = up / down
        log_variance = (spread_up / up**2 + spread_across / (up * down) + spread_down / down**2) / 2
        factor = np.exp(ndtri((1 + LEVEL) / 2) * np.sqrt(log_variance))
        is_inside = (up > 0) & (down > 0)
        return (
            ratio,
            np.where(is_inside, ratio / factor, np.nan),
            np.where(is_inside, ratio * factor, np.nan),
        )


def edge_ratio_bound(behaviours: Sequence[Sequence[Stratum]]) -> Numbers:
    """The lower end of the interval of an infinite ratio, a behaviour an entry.

    Such a behaviour is, in every task, in as many passes as the task's totals allow. The end is the
    ratio under which that has a chance of 2.5%, exactly: tasks are noncentral hypergeometric.
    """
    strata = [stratum for own in behaviours for stratum in own]
    if not strata:
        return np.full(len(behaviours), np.nan)
    owner = np.repeat(np.arange(len(behaviours)), [len(own) for own in behaviours])
    log_ways, fewer, starts, n_tasks = _outcomes(np.asarray(strata, dtype=np.int64))
    target = np.log((1 - LEVEL) / 2)
    low = np.full(len(behaviours), -FARTHEST_LOG_ODDS)
    high = -low
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2
        weight = log_ways - fewer * np.repeat(middle[owner], np.diff(starts, append=len(fewer)))
        log_chance = -n_tasks * _log_sum_exp(weight, starts)
        is_rarer = np.bincount(owner, log_chance, minlength=len(behaviours)) < target
        low, high = np.where(is_rarer, middle, low), np.where(is_rarer, high, middle)
    return np.asarray(np.exp((low + high) / 2))


def _outcomes(
    strata: NDArray[np.int64],
) -> tuple[Numbers, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Every count of passes with the behaviour that a stratum's totals allow, one after another.

    The logarithm of how many ways lead there, over those of the most; how many passes fewer than
    the most it is; where each stratum starts; and how many tasks each stands for.
    """
    from scipy.special import gammaln

    passed, failed, having, n_tasks = strata.T
    most, least = np.minimum(passed, having), np.maximum(having - failed, 0)
    widths = most - least + 1
    starts = np.cumsum(widths) - widths
    fewer = np.arange(widths.sum()) - np.repeat(starts, widths)
    passed, failed, having, most = (np.repeat(of, widths) for of in (passed, failed, having, most))
    count = most - fewer
    log_ways = -(
        gammaln(count + 1)
        + gammaln(passed - count + 1)
        + gammaln(having - count + 1)
        + gammaln(failed - having + count + 1)
    )
    return log_ways - np.repeat(log_ways[starts], widths), fewer, starts, n_tasks


def _log_sum_exp(values: Numbers, starts: NDArray[np.int64]) -> Numbers:
    """The logarithm of the sum of exponentials, stratum by stratum."""
    largest = np.maximum.reduceat(values, starts)
    widths = np.diff(starts, append=len(values))
    scaled = np.exp(values - np.repeat(largest, widths))
    return np.asarray(largest + np.log(np.add.reduceat(scaled, starts)))
