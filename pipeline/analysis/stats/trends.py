"""A task along a series of runs: its trend, and what noise alone would make of its two ends.

A task is its counts: of n repeats over all runs, c passed. Under noise alone the c passes fall on
any of the n repeats alike, whatever the run: what a run gets of them is hypergeometric.
"""

from __future__ import annotations

import numpy as np

from pipeline.analysis.stats.hypergeometric import Counts
from pipeline.analysis.stats.intervals import Numbers


def trend(
    n: Counts, n_passed: Counts, places: Counts, square_places: Counts, passed_places: Counts
) -> tuple[Numbers, Numbers]:
    """Cochran and Armitage's: how much the pass rate rises a place, and p; NaN where none can be.

    The sums are of the places of all repeats, of their squares, and of the places of passes. The
    variance is that of relabelled repeats; p is the normal distribution's, on both sides. Whole
    numbers up to the last division, so that tasks without a trend have none.
    """
    from scipy.special import erfc

    lean = (n * passed_places - n_passed * places).astype(np.float64)
    spread = (n * square_places - places**2).astype(np.float64)
    mixed = (n_passed * (n - n_passed)).astype(np.float64)
    with np.errstate(all="ignore"):
        slope = np.where(spread > 0, lean / spread, np.nan)
        distance = np.abs(lean) * np.sqrt((n - 1) / (mixed * spread))
        is_open = (mixed > 0) & (spread > 0)
        return slope, np.where(is_open, erfc(distance / np.sqrt(2)), np.nan)


def chance_of_turn(n: Counts, n_passed: Counts, n_none: Counts, n_half: Counts) -> Numbers:
    """The chance under noise that one run passes nothing and another at least half of its repeats.

    `n_none` and `n_half` are the repeats of the two. Of k passes of the second run there are
    C(n_half, k) C(rest, c - k) ways, of C(n, c) in all.
    """
    tasks = np.stack([n, n_passed, n_none, n_half])
    kinds, kind = np.unique(tasks, axis=1, return_inverse=True)
    n, n_passed, n_none, n_half = kinds
    widths = n_half // 2 + 1
    starts = np.cumsum(widths) - widths
    of_half = np.repeat(n_half, widths)
    least = (of_half + 1) // 2
    k = least + np.arange(widths.sum()) - np.repeat(starts, widths)
    rest, others = np.repeat(n - n_none - n_half, widths), np.repeat(n_passed, widths) - k
    log_ways = _log_choose(of_half, k) + _log_choose(rest, others)
    chance = np.exp(log_ways - np.repeat(_log_choose(n, n_passed), widths))
    summed = np.add.reduceat(chance, starts) if len(starts) else np.zeros(0)
    return np.asarray(np.minimum(summed, 1)[kind.reshape(-1)])


def _log_choose(n: Counts, k: Counts) -> Numbers:
    """The logarithm of n over k; minus infinity where there is no way."""
    from scipy.special import gammaln

    inside = (k >= 0) & (k <= n)
    k = np.where(inside, k, 0)
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return np.where(inside, ways, -np.inf)
