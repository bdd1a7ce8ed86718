"""A task's passes and failures dealt out anew to both runs, and the sum of changes that makes."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

import numpy as np

from pipeline.analysis.stats.draws import Outcomes, Sums
from pipeline.analysis.stats.hypergeometric import Counts, hypergeometric, tally
from pipeline.analysis.stats.intervals import Numbers


def passing_outcomes(kinds: Counts, n_alike: Counts, unit: float) -> Iterator[Outcomes]:
    """What each task can change by where rollouts pass or fail."""
    kind, base, chance = hypergeometric(*kinds.T)
    of_base, of_candidate, passed = kinds[kind].T
    change = np.rint((passed - base) * unit / of_candidate - base * unit / of_base)
    for index, times in enumerate(n_alike):
        own = kind == index
        for _ in range(times):
            yield change[own], chance[own]


def passing_sums(kinds: Counts, n_alike: Counts, unit: float, random: np.random.Generator) -> Sums:
    """Draws of the sum where rollouts pass or fail.

    Tasks with the same repeats change by steps of one size: how many passes their bases get in all
    is one number, drawn from its distribution.
    """
    shapes = []
    for n_base, n_candidate in tally(*kinds[:, :2].T)[0]:
        own = (kinds[:, 0] == n_base) & (kinds[:, 1] == n_candidate)
        base, below = _passes_of_bases(kinds[own], n_alike[own])
        passed = (kinds[own, 2] * n_alike[own]).sum()
        change = np.rint((passed - base) * unit / n_candidate - base * unit / n_base)
        shapes.append((change, below))

    def draw(n_draws: int) -> Numbers:
        sums = np.zeros(n_draws)
        for change, below in shapes:
            place = np.searchsorted(below, random.random(n_draws), side="right")
            sums += change[np.minimum(place, len(change) - 1)]
        return sums

    return draw


def _passes_of_bases(kinds: Counts, n_alike: Counts) -> tuple[Counts, Numbers]:
    """The numbers of passes that bases of one size can get in all, and the chance of at most each.

    The characteristic functions of tasks are multiplied. A sum of hypergeometric counts is one of
    independent ones and zeros: beyond 12 deviations and 50 there is nothing that a double can hold,
    so the numbers may be counted in a circle of that size.
    """
    n_base, n_candidate, n_passed = kinds.T
    n = n_base + n_candidate
    mean = float((n_alike * n_base * n_passed / n).sum())
    squares = n_alike * n_base * n_candidate * n_passed * (n - n_passed) / (n**2 * (n - 1.0))
    size = 2 ** int(24 * sqrt(squares.sum()) + 100).bit_length()
    product = np.ones(size // 2 + 1, dtype=np.complex128)
    kind, base, chance = hypergeometric(n_base, n_candidate, n_passed)
    for index, times in enumerate(n_alike):
        own = kind == index
        once = np.bincount(base[own] % size, chance[own], minlength=size)
        product *= np.fft.rfft(once) ** times
    circle = np.fft.irfft(product, size)
    numbers = round(mean) - size // 2 + np.arange(size)
    chances = np.maximum(circle[numbers % size], 0)
    # What the transform leaves of impossible numbers would be drawn once in a million billion.
    likely = chances > np.finfo(float).eps
    below = np.cumsum(chances[likely])
    return numbers[likely], below / below[-1]
