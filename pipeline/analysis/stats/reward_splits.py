"""A task's rewards dealt out anew to both runs, and the sum of changes that makes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np

from pipeline.analysis.stats.draws import Outcomes, Sums
from pipeline.analysis.stats.intervals import Numbers

# Of one task so many splits are listed: 8 + 8 repeats have 12,870.
MOST_LISTED = 2**14
# Splits that stand for all of a task's where sums are drawn: the fewer tasks, the more of each.
ALL_DRAWN, MOST_DRAWN, FEWEST_DRAWN = 2**18, 2**16, 2**7
# Numbers worked on at a time: a megabyte stays in the cache.
CHUNK = 2**17


@dataclass(frozen=True)
class RewardTasks:
    """Tasks with the same repeats: the rewards of both runs together, ascending, a task a row."""

    n_base: int
    n_candidate: int
    rewards: Numbers

    def most(self, unit: float) -> Numbers:
        """What tasks would change by if the candidate had all of their rewards, the base none."""
        return np.asarray(np.rint(self.rewards.sum(axis=1) * (unit / self.n_candidate)))


def graded_outcomes(shapes: list[RewardTasks], unit: float) -> Iterator[Outcomes | None]:
    """What each task can change by; None where there are too many splits to list."""
    for shape in shapes:
        n = shape.n_base + shape.n_candidate
        if comb(n, shape.n_base) > MOST_LISTED:
            yield None
            continue
        splits = np.array(list(combinations(range(n), shape.n_base)))
        for most, rewards in zip(shape.most(unit), shape.rewards, strict=True):
            listed = rewards[splits].sum(axis=1)
            taken = np.rint(listed * (unit / shape.n_base + unit / shape.n_candidate))
            amounts, n_splits = np.unique(most - taken, return_counts=True)
            yield amounts, n_splits / len(listed)


def graded_sums(shapes: list[RewardTasks], unit: float, random: np.random.Generator) -> Sums:
    """Draws of the sum: of each task one of many splits."""
    most = sum(float(shape.most(unit).sum()) for shape in shapes)
    n_tasks = sum(len(shape.rewards) for shape in shapes)
    n_splits = min(max(ALL_DRAWN // max(n_tasks, 1), FEWEST_DRAWN), MOST_DRAWN)
    tables = [_taken(alike, n_splits, unit, random) for alike in _chunks(shapes, n_splits)]

    def draw(n_draws: int) -> Numbers:
        sums = np.full(n_draws, most)
        for table in tables:
            n_tasks, n_listed = table.shape
            kind = np.min_scalar_type(n_listed)
            picks = random.integers(0, n_listed, (n_tasks, n_draws), kind)
            for taken, pick in zip(table, picks, strict=True):
                sums -= taken.take(pick)
        return sums

    return draw


def _chunks(shapes: list[RewardTasks], n_splits: int) -> Iterator[RewardTasks]:
    """As many tasks as are held at a time."""
    size = max(CHUNK // n_splits, 1)
    for shape in shapes:
        for start in range(0, len(shape.rewards), size):
            yield replace(shape, rewards=shape.rewards[start : start + size])


def _taken(tasks: RewardTasks, n_splits: int, unit: float, random: np.random.Generator) -> Numbers:
    """What splits take away from that, a task a row: the rewards that are the base's instead.

    The base has a stretch of a shuffle, from each of its places on: every rollout is the base's
    equally often, so that the mean change is 0. Tasks share the shuffles, each in its own order.
    """
    n_base, n = tasks.n_base, tasks.n_base + tasks.n_candidate
    rewards = tasks.rewards * (unit / n_base + unit / tasks.n_candidate)
    shuffles = random.permuted(np.tile(np.arange(n)[:, None], -(-n_splits // n)), axis=0)
    around = np.concatenate((shuffles, shuffles[:n_base]))
    running = np.cumsum(random.permuted(rewards, axis=1)[:, around], axis=1)
    taken = running[:, n_base:] - running[:, :n]
    return np.asarray(np.rint(taken, out=taken).reshape(len(rewards), -1))
