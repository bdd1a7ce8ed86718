"""Numbers in, numbers out: intervals, and the vote of a majority. No SQL, no files.

Arrays in, arrays of the same length out; what is undefined is NaN, never 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from math import comb
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Vote = tuple[int, int]  # how many repeats gave an answer, how many of those passed

LEVEL = 0.95
# Below so many tasks with both passes and failures an interval for the same tasks misleads.
FEWEST_MIXED = 10
# Binomials of 32 are exact in a double, and the count of subsets by dynamic programming quick.
MOST_EXACT_REPEATS = 32
MOST_DRAWS, FEWEST_DRAWS = 1000, 16
# Draws are shared among a run's tasks: their mean is what is wanted.
MOST_DRAWN_VOTES = 20_000_000


def warm_up() -> None:
    """Import what takes a fifth of a second, in a thread, while there is other work to wait for."""
    Thread(target=import_module, args=("scipy.special",), daemon=True).start()


def new_tasks_interval(
    value: Numbers, se: Numbers, n_units: Numbers, *, is_bounded: NDArray[np.bool_]
) -> tuple[Numbers, Numbers]:
    """Where the figure of new tasks like these would lie; NaN with fewer than two units.

    Wilson's with the effective size that the standard error implies, which holds near 0 and 1;
    the plain t interval for rewards without bounds, which says nothing where tasks are all alike.
    """
    from scipy.special import stdtrit

    quantile = stdtrit(np.maximum(n_units - 1, 1), (1 + LEVEL) / 2)
    low, high = _wilson(value, se, n_units, quantile)
    half = np.where(_is_spread(value, se), quantile * se, np.nan)
    plain_low, plain_high = value - half, value + half
    is_defined = (n_units > 1) & np.isfinite(se)
    return (
        np.where(is_defined, np.where(is_bounded, low, plain_low), np.nan),
        np.where(is_defined, np.where(is_bounded, high, plain_high), np.nan),
    )


def _wilson(
    value: Numbers, se: Numbers, n_units: Numbers, quantile: Numbers
) -> tuple[Numbers, Numbers]:
    with np.errstate(all="ignore"):
        size = np.where(_is_spread(value, se), value * (1 - value) / se**2, n_units)
        spread = quantile**2 / size
        centre = (value + spread / 2) / (1 + spread)
        inside = np.maximum(value * (1 - value) / size + spread / (4 * size), 0)
        half = quantile / (1 + spread) * np.sqrt(inside)
    # The figure itself is never outside, not even by a rounding.
    return (
        np.minimum(np.maximum(centre - half, 0), value),
        np.maximum(np.minimum(centre + half, 1), value),
    )


def _is_spread(value: Numbers, se: Numbers) -> NDArray[np.bool_]:
    """Do tasks differ at all? What is left of a sum of equal floats is no spread."""
    return np.asarray(se > 1e-12 * np.maximum(np.abs(value), 1))


def same_tasks_interval(
    value: Numbers, se: Numbers, n_mixed: Numbers, *, is_bounded: NDArray[np.bool_]
) -> tuple[Numbers, Numbers]:
    """Where these tasks, sampled again, would lie; NaN with too few mixed tasks to say."""
    from scipy.special import ndtri

    half = ndtri((1 + LEVEL) / 2) * se
    low = np.where(is_bounded, np.maximum(value - half, 0), value - half)
    high = np.where(is_bounded, np.minimum(value + half, 1), value + half)
    is_defined = (n_mixed >= FEWEST_MIXED) & np.isfinite(se)
    return np.where(is_defined, low, np.nan), np.where(is_defined, high, np.nan)


def majority_curve(ballots: Sequence[tuple[Sequence[Vote], int]]) -> dict[int, float]:
    """By k: how often the commonest of k answers is right, over tasks with at least k repeats.

    A ballot is one split of votes and the number of tasks that have it.
    """
    longest = max((_n_repeats(votes) for votes, _ in ballots), default=0)
    affordable = MOST_DRAWN_VOTES // max(len(ballots) * longest, 1)
    draws = min(max(affordable, FEWEST_DRAWS), MOST_DRAWS)
    right, n_tasks = np.zeros(longest), np.zeros(longest)
    for votes, n_alike in ballots:
        curve = plurality(votes, n_draws=draws)
        right[: len(curve)] += n_alike * curve
        n_tasks[: len(curve)] += n_alike
    return {k: float(right[k - 1] / n_tasks[k - 1]) for k in range(1, longest + 1)}


def plurality(votes: Sequence[Vote], *, n_draws: int = MOST_DRAWS) -> Numbers:
    """Of k repeats of one task, the expected rightness of the commonest answer, by k from 1.

    Ties count the mean of the tied. Exact up to 32 repeats; beyond, from seeded draws.
    """
    votes = sorted(votes)
    if _n_repeats(votes) <= MOST_EXACT_REPEATS:
        return _counted_plurality(votes)
    return _drawn_plurality(votes, n_draws)


def _n_repeats(votes: Sequence[Vote]) -> int:
    return sum(n_votes for n_votes, _ in votes)


def _counted_plurality(votes: Sequence[Vote]) -> Numbers:
    """Count k-subsets by how many votes the winner has, and how many answers tie for it."""
    n = _n_repeats(votes)
    rightness = np.zeros(n + 1)
    for top in range(1, max(n_votes for n_votes, _ in votes) + 1):
        most_ties = n // top
        # By size and ties: how many subsets there are, and the rightness of their tied answers.
        subsets = np.zeros((n + 1, most_ties + 1))
        right = np.zeros_like(subsets)
        subsets[0, 0] = 1
        for n_votes, n_right in votes:
            more, more_right = np.zeros_like(subsets), np.zeros_like(right)
            for taken in range(min(n_votes, top - 1) + 1):
                ways = comb(n_votes, taken)
                more[taken:] += ways * subsets[: n + 1 - taken]
                more_right[taken:] += ways * right[: n + 1 - taken]
            if n_votes >= top:
                ways = comb(n_votes, top)
                before, before_right = subsets[: n + 1 - top, :-1], right[: n + 1 - top, :-1]
                more[top:, 1:] += ways * before
                more_right[top:, 1:] += ways * (before_right + n_right / n_votes * before)
            subsets, right = more, more_right
        rightness += (right[:, 1:] / np.arange(1, most_ties + 1)).sum(axis=1)
    return np.array([rightness[k] / comb(n, k) for k in range(1, n + 1)])


def _drawn_plurality(votes: Sequence[Vote], n_draws: int) -> Numbers:
    """The first k of shuffled votes are a k-subset: a shuffle serves every k."""
    random = np.random.default_rng([number for vote in votes for number in vote])
    n_votes = np.array([number for number, _ in votes])
    answers = np.repeat(np.arange(len(votes)), n_votes)
    share = np.array([n_right / number for number, n_right in votes])
    drawn = random.permuted(np.tile(answers, (n_draws, 1)), axis=1)
    # The how-manieth vote for its answer each one is: sorted, they stand answer by answer.
    nth = np.empty_like(drawn)
    in_turn = np.concatenate([np.arange(1, number + 1) for number in n_votes])
    order = np.argsort(drawn, axis=1, kind="stable")
    np.put_along_axis(nth, order, np.tile(in_turn, (n_draws, 1)), axis=1)
    # An answer joins the leaders when its count reaches the lead, and is alone when it raises it.
    lead = np.maximum.accumulate(nth, axis=1)
    joins = nth == lead
    raises = np.diff(lead, axis=1, prepend=0) > 0
    rightness = np.where(joins, share[drawn], 0)
    right = _since(np.cumsum(rightness, axis=1), rightness, raises)
    tied = _since(np.cumsum(joins, axis=1), joins, raises)
    return np.asarray((right / tied).mean(axis=0))


def _since(total: NDArray[Any], step: NDArray[Any], starts: NDArray[np.bool_]) -> NDArray[Any]:
    """What a rising total has gained since the last start, the start's own step included."""
    return np.asarray(total - np.maximum.accumulate(np.where(starts, total - step, 0), axis=1))
