"""How rare a sum is: among all that could be, or among draws of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from pipeline.analysis.stats.intervals import Numbers

# All outcomes of all tasks together are tried up to so many.
MOST_EXACT = 2**20
# A p-value that so many of the first draws put clearly above 0.1 needs no more of them.
FIRST_DRAWS, DRAWS, MANY_HITS = 999, 9_999, 100

Outcomes = tuple[Numbers, Numbers]  # what a task can change by, and how likely each is
Sums = Callable[[int], Numbers]  # so many draws of the sum of changes


def share_of_outcomes(tasks: Iterable[Outcomes | None], n_tasks: int, least: float) -> float | None:
    """The chance that the changes sum to at least so far from 0; None where there are too many."""
    # A task that can change at all has two outcomes or more: then they need not be listed.
    if n_tasks >= MOST_EXACT.bit_length():
        return None
    outcomes, n_outcomes = [], 1
    for task in tasks:
        n_outcomes *= len(task[0]) if task else MOST_EXACT + 1
        if n_outcomes > MOST_EXACT or task is None:
            return None
        outcomes.append(task)
    sums, chances = np.zeros(1), np.ones(1)
    for amounts, likely in outcomes:
        sums, owner = np.unique(np.add.outer(sums, amounts).ravel(), return_inverse=True)
        both = np.multiply.outer(chances, likely).ravel()
        chances = np.asarray(np.bincount(owner, both), dtype=np.float64)
    return min(float(chances[np.abs(sums) >= least].sum()), 1.0)


def share_of_draws(sums: Sums, least: float) -> tuple[float, int]:
    """The p-value by draws, what was seen counted as one of them; and how many were drawn."""
    hits = int(np.count_nonzero(np.abs(sums(FIRST_DRAWS)) >= least))
    if hits >= MANY_HITS:
        return (1 + hits) / (1 + FIRST_DRAWS), FIRST_DRAWS
    hits += int(np.count_nonzero(np.abs(sums(DRAWS - FIRST_DRAWS)) >= least))
    return (1 + hits) / (1 + DRAWS), DRAWS
