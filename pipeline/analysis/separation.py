"""Which behaviours separate passes from failures of the same tasks, and by how much.

A task is a table of counts: a passed with the behaviour, b passed without, c failed with, d failed
without, n in all. What is read here are sums over tasks, one entry per behaviour.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pipeline.analysis.stats import (
    LEVEL,
    NORMAL_LEVEL,
    ROUNDING,
    Numbers,
    added,
    log_factorial,
    normal_p_value,
    numbers,
    q_values,
    strata,
    t_quantile,
    t_test,
    within,
)
from pipeline.relation import computed

SUMS = ("up", "down", "null_variance", "spread_up", "spread_across", "spread_down")
COLUMNS = (
    "run_id feature kind n_tasks n_informative n_with_passed n_passed n_with_failed n_failed "
    "rate_when_passed rate_when_failed odds_ratio odds_ratio_low odds_ratio_high is_unbounded "
    "mean_when_passed mean_when_failed mean_difference difference_low difference_high p_value "
    "q_value direction is_separating".split()
)
SEPARATING = 0.05
DIFFERENCES = ("mean_when_passed", "mean_when_failed", "mean_difference", "se_difference")
# Of tasks: passed, failed, with the behaviour; and how many are like that.
Stratum = tuple[int, ...]
# Odds beyond e^50 are beyond any count of rollouts; halved so often, a double is exhausted.
FARTHEST_LOG_ODDS, N_HALVINGS = 50.0, 64
DIRECTIONS = {1.0: "passes", -1.0: "fails", 0.0: "none"}


def separations(sums: pa.Table) -> pa.Table:
    """The sums, and each feature's size with its interval, p, q within its run, and direction."""
    up, down, null_variance, *spreads = (numbers(sums[name]) for name in SUMS)
    passed, failed, mean, se = (numbers(sums[name]) for name in DIFFERENCES)
    n_tasks = np.where(numbers(sums["n_informative"]) > 0, numbers(sums["n_tasks"]), 0)
    ratio, low, high = _odds_ratios(common_odds_ratio(up, down, *spreads), sums)
    scale = np.maximum(np.abs(passed), np.abs(failed))
    p_of_mean, mean_low, mean_high = paired_test(mean, se, n_tasks, scale=scale)
    is_binary = np.isfinite(up)
    p_value = np.where(is_binary, association_p_value(up, down, null_variance), p_of_mean)
    leans = np.where(is_binary, lean(up, down), lean(passed, failed))
    q_value = within(q_values, p_value, sums["run_id"])
    found = added(
        sums,
        odds_ratio=ratio,
        odds_ratio_low=low,
        odds_ratio_high=high,
        difference_low=mean_low,
        difference_high=mean_high,
        p_value=p_value,
        q_value=q_value,
        direction=np.array([DIRECTIONS[side] for side in leans], dtype=str),
    )
    is_unbounded = pa.array(np.isinf(ratio), mask=np.isnan(ratio))
    is_separating = pa.array(q_value <= SEPARATING, mask=np.isnan(q_value))
    found = found.append_column("is_unbounded", is_unbounded)
    return found.append_column("is_separating", is_separating).select(COLUMNS)


def _odds_ratios(
    found: tuple[Numbers, Numbers, Numbers], sums: pa.Table
) -> tuple[Numbers, Numbers, Numbers]:
    """Ratios with their intervals; those of 0 and infinity have an exact one, open at that end."""
    ratio, low, high = (np.array(column) for column in found)
    edges = np.asarray(sums["edge_strata"].to_pylist(), dtype=object)
    top, bottom = np.flatnonzero(np.isinf(ratio)), np.flatnonzero(ratio == 0)
    low[top] = edge_ratio_bound([strata(text) for text in edges[top]])
    high[top] = np.inf
    low[bottom] = 0
    # Seldom in passes is as often lacking there: the same bound, of not doing it.
    high[bottom] = 1 / edge_ratio_bound([_lacking(text) for text in edges[bottom]])
    return ratio, low, high


def _lacking(text: str) -> list[Stratum]:
    return [
        (n_passed, n_failed, n_passed + n_failed - n_with, n_tasks)
        for n_passed, n_failed, n_with, n_tasks in strata(text)
    ]


SEPARATORS = computed("main.separators", separations)


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
    excess = np.where(lean(up, down) == 0, 0, up - down)
    with np.errstate(all="ignore"):
        distance = np.abs(excess) / np.sqrt(null_variance)
        return normal_p_value(distance, null_variance > 0)


def common_odds_ratio(
    up: Numbers, down: Numbers, spread_up: Numbers, spread_across: Numbers, spread_down: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """Mantel and Haenszel's ratio with the interval of Robins, Breslow and Greenland.

    With P = (a+d)/n and Q = (b+c)/n the spreads sum P ad/n, P bc/n + Q ad/n, and Q bc/n. A ratio of
    0 or infinity has no such interval: see `edge_ratio_bound`.
    """
    with np.errstate(all="ignore"):
        ratio = up / down
        log_variance = (spread_up / up**2 + spread_across / (up * down) + spread_down / down**2) / 2
        factor = np.exp(NORMAL_LEVEL * np.sqrt(log_variance))
        is_inside = (up > 0) & (down > 0)
        return (
            ratio,
            np.where(is_inside, ratio / factor, np.nan),
            np.where(is_inside, ratio * factor, np.nan),
        )


def edge_ratio_bound(behaviours: Sequence[Sequence[Stratum]]) -> Numbers:
    """The lower end of the interval of an infinite ratio, one entry per behaviour.

    Such a behaviour is, in every task, in as many passes as the task's totals allow. The end is the
    ratio under which that has a chance of 2.5%, exactly: tasks are noncentral hypergeometric.
    """
    every = [stratum for own in behaviours for stratum in own]
    if not every:
        return np.full(len(behaviours), np.nan)
    owner = np.repeat(np.arange(len(behaviours)), [len(own) for own in behaviours])
    log_ways, fewer, starts, n_tasks = _outcomes(np.asarray(every, dtype=np.int64))
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
    rows: NDArray[np.int64],
) -> tuple[Numbers, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Every count of passes with the behaviour that a stratum's totals allow, one after another.

    The logarithm of how many ways lead there, over those of the most; how many passes fewer than
    the most it is; where each stratum starts; and how many tasks each stands for.
    """
    passed, failed, having, n_tasks = rows.T
    most, least = np.minimum(passed, having), np.maximum(having - failed, 0)
    widths = most - least + 1
    starts = np.cumsum(widths) - widths
    fewer = np.arange(widths.sum()) - np.repeat(starts, widths)
    passed, failed, having, most = (np.repeat(of, widths) for of in (passed, failed, having, most))
    count = most - fewer
    log_ways = -(
        log_factorial(count)
        + log_factorial(passed - count)
        + log_factorial(having - count)
        + log_factorial(failed - having + count)
    )
    return log_ways - np.repeat(log_ways[starts], widths), fewer, starts, n_tasks


def _log_sum_exp(values: Numbers, starts: NDArray[np.int64]) -> Numbers:
    """The logarithm of the sum of exponentials, stratum by stratum."""
    largest = np.maximum.reduceat(values, starts)
    widths = np.diff(starts, append=len(values))
    scaled = np.exp(values - np.repeat(largest, widths))
    return np.asarray(largest + np.log(np.add.reduceat(scaled, starts)))


def paired_test(
    mean: Numbers, se: Numbers, n_pairs: Numbers, *, scale: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """p, and both ends of the interval, of a mean difference by Student's t; NaN below two pairs.

    Differences that are all alike have no spread to judge by: their p is the chance that all signs
    agree, and they have no interval. `scale` is the size of what was subtracted.
    """
    p_value = t_test(mean, se, n_pairs, n_pairs - 1, scale=scale)
    is_spread = (se > ROUNDING * scale) & (n_pairs > 1)
    half = t_quantile(n_pairs - 1, is_spread) * se
    return p_value, mean - half, mean + half
