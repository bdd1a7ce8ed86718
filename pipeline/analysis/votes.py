"""The vote of a majority: how often the commonest of k answers is right."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .stats import Mask, Numbers, strata

Vote = tuple[int, int]  # how many repeats gave an answer, how many of those passed

# Binomials of 32 are exact in a double, and the count of subsets by dynamic programming quick.
MOST_EXACT_REPEATS = 32
MOST_DRAWS, FEWEST_DRAWS = 1000, 16
# Draws are shared among a run's tasks: their mean is what is wanted.
MOST_DRAWN_VOTES = 20_000_000


def majorities(ballots: pa.Table) -> pa.Table:
    """maj@k of each run whose rollouts have answers."""
    by_run: dict[str, list[tuple[list[Vote], int]]] = {}
    for row in ballots.to_pylist():
        votes = [(n_votes, n_right) for n_votes, n_right in strata(row["ballot"])]
        by_run.setdefault(row["run_id"], []).append((votes, row["n_tasks"]))
    rows = [
        {"run_id": run_id, "k": k, "maj_at": maj_at}
        for run_id, cast in by_run.items()
        for k, maj_at in majority_curve(cast).items()
    ]
    schema = pa.schema({"run_id": pa.string(), "k": pa.int64(), "maj_at": pa.float64()})
    return pa.Table.from_pylist(rows, schema=schema)


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


def _since(total: NDArray[Any], step: NDArray[Any], starts: Mask) -> NDArray[Any]:
    """What a rising total has gained since the last start, the start's own step included."""
    return np.asarray(total - np.maximum.accumulate(np.where(starts, total - step, 0), axis=1))
