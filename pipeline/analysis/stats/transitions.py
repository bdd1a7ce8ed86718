"""Which tasks would seem to change between two runs of the same model, by noise alone."""

from __future__ import annotations

import numpy as np

from pipeline.analysis.stats.hypergeometric import Counts, hypergeometric, tally
from pipeline.analysis.stats.intervals import Numbers

ALWAYS, SOMETIMES, NEVER = range(3)


def expected_transitions(
    n_base: Counts, n_candidate: Counts, n_passed: Counts
) -> tuple[Numbers, Numbers]:
    """From bucket (row) to bucket (column): tasks expected there, and their change of rate in all.

    `n_passed` are a task's passes in both runs together: were the runs alike, any of its rollouts
    could as well have been the other run's. Buckets are always, sometimes, never.
    """
    kinds, n_alike = tally(n_base, n_candidate, n_passed)
    kind, base, chance = hypergeometric(*kinds.T)
    of_base, of_candidate, passed = (column[kind] for column in kinds.T)
    candidate = passed - base
    cell = 3 * _bucket(base, of_base) + _bucket(candidate, of_candidate)
    n_tasks = n_alike[kind] * chance
    change = candidate / of_candidate - base / of_base
    return _matrix(cell, n_tasks), _matrix(cell, n_tasks * change)


def _matrix(cell: Counts, amounts: Numbers) -> Numbers:
    return np.asarray(np.bincount(cell, amounts, minlength=9), dtype=np.float64).reshape(3, 3)


def _bucket(n_passed: Counts, n_scored: Counts) -> Counts:
    return np.where(n_passed == n_scored, ALWAYS, np.where(n_passed == 0, NEVER, SOMETIMES))
