"""How large an evaluation must be for a change to be seen, from how results vary.

The variance of a paired mean difference over n tasks with K repeats in each run is
(between + within / K) / n: `between` is the variance of tasks' true changes, `within` that of an
attempt of the base and one of the candidate together.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from math import ceil, isnan, sqrt

import numpy as np

from pipeline.analysis.stats import Counts, Numbers, detectable, mean

MOST_TASKS = 10**9


@dataclass(frozen=True)
class Spread:
    """What differences between two runs vary by, and whether repeats could tell the two apart."""

    between: float
    within: float
    is_split: bool

    def detectable(self, n_tasks: int, n_repeats: int) -> float | None:
        """The minimum detectable change with 80% power; none where nothing varies."""
        se = sqrt((self.between + self.within / n_repeats) / n_tasks)
        (found,) = detectable(np.array([se]), np.array([n_tasks - 1.0]))
        return None if isnan(found) else float(found)

    def tasks_needed(self, change: float, n_repeats: int) -> int | None:
        """The fewest tasks that show a change of this size; none where any do, or none can."""

        def is_enough(n_tasks: int) -> bool:
            seen = self.detectable(n_tasks, n_repeats)
            return seen is not None and seen <= change

        fewest = 2 + bisect_left(range(2, MOST_TASKS), True, key=is_enough)
        return fewest if is_enough(fewest) else None

    def repeats_needed(self, change: float, n_tasks: int) -> int | None:
        """The fewest repeats of these tasks that do; none where no number of them would."""
        # At one repeat the standard error is a known share of the detectable change.
        once = self.detectable(n_tasks, 1)
        if once is None:
            return None
        left = (self.between + self.within) * (change / once) ** 2 - self.between
        return max(ceil(self.within / left - 1e-9), 1) if left > 0 else None


def spread_of_run(within: float | None, pass_at_1: float) -> Spread:
    """A candidate that varies like this run and changes every task by the same amount.

    Without repeats an attempt varies by no more than a pass rate allows.
    """
    own = pass_at_1 * (1 - pass_at_1) if within is None else within
    return Spread(0.0, 2 * own, within is not None)


def spread_of_pair(base: Counts, candidate: Counts) -> Spread | None:
    """The differences of two runs, each a row of (scored, passed) per task; none with one task.

    A task tried once is given the others' variance of an attempt; where none is repeated, all that
    differences vary by is taken for sampling.
    """
    if len(base) < 2:
        return None
    rates = [runs[:, 1] / runs[:, 0] for runs in (base, candidate)]
    variance = float(np.sort(rates[1] - rates[0]).var(ddof=1))
    parts = [_within(runs[:, 0], rate) for runs, rate in zip((base, candidate), rates, strict=True)]
    within = sum(part[0] for part in parts)
    if isnan(within):
        return Spread(0.0, variance * float(min(base[:, 0].min(), candidate[:, 0].min())), False)
    return Spread(max(variance - sum(part[1] for part in parts), 0.0), within, True)


def _within(n_scored: Counts, rates: Numbers) -> tuple[float, float]:
    """The mean variance of an attempt, and of a task's mean of attempts; NaN without repeats."""
    repeated = n_scored > 1
    if not repeated.any():
        return np.nan, np.nan
    own = rates * (1 - rates) * n_scored / np.maximum(n_scored - 1, 1)
    within = mean(own[repeated])
    return within, mean(np.where(repeated, own, within) / n_scored)
