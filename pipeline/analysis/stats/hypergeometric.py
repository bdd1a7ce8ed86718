"""Passes dealt out at random to two runs: how many the first one gets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.analysis.stats.intervals import Numbers

Counts = NDArray[np.int64]


def tally(*columns: Counts) -> tuple[Counts, Counts]:
    """The distinct rows of these columns in order, one a row, and how many there are of each."""
    rows, n_alike = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    return rows.astype(np.int64), n_alike.astype(np.int64)


def hypergeometric(
    n_base: Counts, n_candidate: Counts, n_passed: Counts
) -> tuple[Counts, Counts, Numbers]:
    """Every number of passes the base can get, task after task, with its chance.

    Which task it is, the passes of the base, and how likely they are when the task's passes are
    dealt out at random to both runs.
    """
    from scipy.special import gammaln

    least, most = np.maximum(n_passed - n_candidate, 0), np.minimum(n_base, n_passed)
    widths = most - least + 1
    starts = np.cumsum(widths) - widths
    task = np.repeat(np.arange(len(widths)), widths)
    passed = np.arange(widths.sum()) - starts[task] + least[task]
    log_ways = -(
        gammaln(passed + 1)
        + gammaln(n_base[task] - passed + 1)
        + gammaln(n_passed[task] - passed + 1)
        + gammaln((n_candidate - n_passed)[task] + passed + 1)
    )
    # Over the likeliest of the task, so that no exponential overflows or vanishes.
    ways = np.exp(log_ways - np.maximum.reduceat(log_ways, starts)[task])
    total = np.bincount(task, ways, minlength=len(widths))
    return task, passed, ways / total[task]
