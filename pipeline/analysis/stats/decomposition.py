"""A change shared out among what changed: steps of a funnel, and lines that visibly add up."""

from __future__ import annotations

import numpy as np

from pipeline.analysis.stats.intervals import Numbers
from pipeline.analysis.stats.strata import ROUNDING


def shapley_steps(
    base_steps: Numbers, candidate_steps: Numbers, base_endings: Numbers, candidate_endings: Numbers
) -> tuple[Numbers, Numbers]:
    """What each step of a funnel added to the change of the mean value, and each way to end.

    Steps are the rates at which what came so far goes on; endings, one more, the mean value of
    what goes no further. An undefined one takes the other run's; undefined in both it adds nothing.
    """
    base, candidate = _filled(base_steps, candidate_steps)
    before, after = _filled(base_endings, candidate_endings)
    weight = (_shares(base) + _shares(candidate)) / 2
    endings = weight * _moved(before, after)
    # The value is linear in each rate. Its Shapley values are then the integral of its slopes along
    # the straight way from one run to the other, and this many points integrate them exactly.
    points, weights = np.polynomial.legendre.leggauss(len(base) // 2 + 1)
    on_the_way = base + np.outer((points + 1) / 2, candidate - base)
    slopes = (weights / 2) @ _slopes(on_the_way, (before + after) / 2)
    return (candidate - base) * slopes, endings


def _filled(base: Numbers, candidate: Numbers) -> tuple[Numbers, Numbers]:
    """Each with what the other has where it has none, and 0 where neither has."""
    either = np.where(np.isnan(base), candidate, base)
    other = np.where(np.isnan(candidate), base, candidate)
    return np.where(np.isnan(either), 0, either), np.where(np.isnan(other), 0, other)


def _moved(before: Numbers, after: Numbers) -> Numbers:
    """How far each went; of equal ones not at all, whatever rounding left of them."""
    is_moved = np.abs(after - before) > ROUNDING * np.maximum(np.abs(before), np.abs(after))
    return np.where(is_moved, after - before, 0)


def _shares(steps: Numbers) -> Numbers:
    """The share that ends before each step, and the share that takes all of them."""
    reached = np.append(1, np.cumprod(steps))
    return np.asarray(reached * np.append(1 - steps, 1))


def _slopes(steps: Numbers, endings: Numbers) -> Numbers:
    """How fast the mean value grows with each rate, of funnels a row each."""
    n_steps = steps.shape[1]
    slopes = np.empty_like(steps)
    beyond = np.full(len(steps), endings[-1])
    for step in range(n_steps - 1, -1, -1):
        slopes[:, step] = beyond - endings[step]
        beyond = endings[step] + steps[:, step] * slopes[:, step]
    reached = np.cumprod(np.column_stack((np.ones(len(steps)), steps[:, :-1])), axis=1)
    return slopes * reached[:, :n_steps]
