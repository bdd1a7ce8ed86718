"""Which tasks rise and fall along a series of runs, and what noise alone would make of them.

A task is its counts: of n repeats over all runs, c passed. Under noise alone the c passes fall on
any of the n repeats alike, in any run: what a run gets of them is hypergeometric.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from .stats import (
    Counts,
    Numbers,
    added,
    counts,
    log_choose,
    normal_p_value,
    numbers,
    q_values,
    within,
)

RESTS = ("sum_rest", "sum_square_rest", "sum_passed_rest")
SUMS = ("n_all", "n_all_passed", "sum_places", "sum_square_places", "sum_passed_places")


def trends(totals: pa.Table) -> pa.Table:
    """Each task's trend with p and q within its series, and how likely noise alone turns it."""
    sums = [counts(totals[name]) for name in SUMS]
    n, n_passed = sums[:2]
    n_first, n_last = counts(totals["n_first"]), counts(totals["n_last"])
    slope, p_value = trend(*sums)
    return added(
        totals,
        slope=slope,
        p_value=p_value,
        q_value=within(q_values, p_value, totals["series"]),
        expected_learned=chance_of_turn(n, n_passed, n_first, n_last),
        expected_forgotten=chance_of_turn(n, n_passed, n_last, n_first),
    )


def discriminations(tasks: pa.Table) -> pa.Table:
    """Each task with q, within its benchmark, that better runs do worse on it than others do.

    The trend of its passes along what runs score on their other tasks, downwards.
    """
    n, n_passed = counts(tasks["n_scored"]), counts(tasks["n_passed"])
    sums = [numbers(tasks[name]) for name in RESTS]
    slope, both_sides = trend(n, n_passed, *sums)
    p_value = np.where(slope < 0, both_sides / 2, 1 - both_sides / 2)
    return added(tasks, q_noisy=within(q_values, p_value, tasks["benchmark"]))


def trend(
    n: Counts,
    n_passed: Counts,
    places: Counts | Numbers,
    square_places: Counts | Numbers,
    passed_places: Counts | Numbers,
) -> tuple[Numbers, Numbers]:
    """Cochran and Armitage's: how much the pass rate rises per place, and p; NaN where none can be.

    The sums are of the places of all repeats, of their squares, and of the places of passes. The
    variance is that of relabelled repeats; p is the normal distribution's, on both sides. Whole
    numbers up to the last division, so that tasks without a trend have none.
    """
    lean = (n * passed_places - n_passed * places).astype(np.float64)
    spread = (n * square_places - places**2).astype(np.float64)
    mixed = (n_passed * (n - n_passed)).astype(np.float64)
    with np.errstate(all="ignore"):
        slope = np.where(spread > 0, lean / spread, np.nan)
        distance = np.abs(lean) * np.sqrt((n - 1) / (mixed * spread))
    return slope, normal_p_value(distance, (mixed > 0) & (spread > 0))


def chance_of_turn(n: Counts, n_passed: Counts, n_none: Counts, n_half: Counts) -> Numbers:
    """The chance under noise that one run passes nothing and another at least half of its repeats.

    `n_none` and `n_half` are the repeats of the two. Of k passes of the second run there are
    C(n_half, k) C(rest, c - k) ways, of C(n, c) in all.
    """
    if not len(n):
        return np.zeros(0)
    tasks = np.stack([n, n_passed, n_none, n_half])
    kinds, kind = np.unique(tasks, axis=1, return_inverse=True)
    n, n_passed, n_none, n_half = kinds
    widths = n_half // 2 + 1
    starts = np.cumsum(widths) - widths
    of_half = np.repeat(n_half, widths)
    least = (of_half + 1) // 2
    k = least + np.arange(widths.sum()) - np.repeat(starts, widths)
    rest, others = np.repeat(n - n_none - n_half, widths), np.repeat(n_passed, widths) - k
    log_ways = log_choose(of_half, k) + log_choose(rest, others)
    chance = np.exp(log_ways - np.repeat(log_choose(n, n_passed), widths))
    return np.asarray(np.minimum(np.add.reduceat(chance, starts), 1)[kind.reshape(-1)])
