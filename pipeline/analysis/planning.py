"""How large an evaluation must be for a change to be seen, from how its tasks vary."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from math import isnan

import numpy as np

from .power import Suite, spread_of_changes, task_rates
from .stats import Counts, Numbers, mean

MOST_TASKS, MOST_REPEATS = 10**9, 2**14


@dataclass(frozen=True)
class Varying:
    """Tasks by their rates, and how much their true changes vary; whether that was measured."""

    rates: Numbers
    spread: float
    is_measured: bool

    @property
    def within(self) -> float:
        """The variance of an attempt of the base and one of the candidate together."""
        return 2 * mean(self.rates * (1 - self.rates))

    def detectable(self, n_tasks: int, n_repeats: int) -> float | None:
        """The minimum detectable change with 80% power; none where there is none."""
        repeats = np.full(len(self.rates), n_repeats)
        change = Suite(self.rates, repeats, repeats, self.spread).detectable(n_tasks)
        return None if isnan(change) else change

    def tasks_needed(self, change: float, n_repeats: int) -> int | None:
        """The fewest tasks that show a change of this size; none where any do, or none can."""
        fewest = 2 + bisect_left(
            range(2, MOST_TASKS), True, key=lambda n: self._is_enough(change, n, n_repeats)
        )
        return fewest if self._is_enough(change, fewest, n_repeats) else None

    def repeats_needed(self, change: float, n_tasks: int) -> int | None:
        """The fewest repeats of these tasks that do; none where no number of them would."""
        fewest = 1 + bisect_left(
            range(1, MOST_REPEATS), True, key=lambda n: self._is_enough(change, n_tasks, n)
        )
        return fewest if self._is_enough(change, n_tasks, fewest) else None

    def _is_enough(self, change: float, n_tasks: int, n_repeats: int) -> bool:
        seen = self.detectable(n_tasks, n_repeats)
        return seen is not None and seen <= change


def of_run(run: Counts, spread: float | None) -> Varying:
    """A candidate like this run, of rows of (scored, passed) per task, but for the change."""
    return Varying(task_rates(run[:, 1], run[:, 0]), spread or 0.0, bool((run[:, 0] > 1).any()))


def of_pair(base: Counts, candidate: Counts, spread: float | None) -> Varying:
    """Two runs as they are; where none is repeated all that differences vary by is sampling."""
    (n_base, passed), (n_candidate, candidate_passed) = base.T, candidate.T
    measured = spread_of_changes(n_base, n_candidate, passed, candidate_passed)
    rates = task_rates(passed + candidate_passed, n_base + n_candidate)
    own = (measured or 0.0) if spread is None else spread
    return Varying(rates, own, measured is not None)
