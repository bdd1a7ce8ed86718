"""A task's rewards dealt out anew to both runs, and the sum of changes that makes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, groupby
from math import comb

import numpy as np

from pipeline.stats.draws import Outcomes, Sums
from pipeline.stats.intervals import Numbers

# Of one task so many splits are listed: 8 + 8 repeats have 12,870.
MOST_LISTED = 2**14
# Splits that stand for all of a task's where sums are drawn: the fewer tasks, the more of each.
ALL_DRAWN, MOST_DRAWN, FEWEST_DRAWN = 2**18, 2**16, 2**7
# Numbers worked on at a time: a megabyte stays in the cache.
CHUNK = 2**17

# The repeats of both runs, and the rewards of all of them in order.
RewardTask = tuple[int, int, Numbers]


def graded_outcomes(tasks: Iterable[RewardTask], unit: float) -> Iterator[Outcomes | None]:
    """What each task can change by; None where its splits are too many to list."""
    for n_base, n_candidate, rewards in tasks:
        n = n_base + n_candidate
        if comb(n, n_base) > MOST_LISTED:
            yield None
            continue
        listed = rewards[np.array(list(combinations(range(n), n_base)))].sum(axis=1)
        taken = np.rint(listed * (unit / n_base + unit / n_candidate))
        amounts, n_splits = np.unique(_most(n_candidate, rewards, unit) - taken, return_counts=True)
        yield amounts, n_splits / len(listed)


def graded_sums(tasks: list[RewardTask], unit: float, random: np.random.Generator) -> Sums:
    """Draws of the sum: of each task one of many splits.

    Tasks come in order of their repeats, so that those with the same are split together.
    """
    most = sum(_most(n_candidate, rewards, unit) for _, n_candidate, rewards in tasks)
    n_splits = min(max(ALL_DRAWN // max(len(tasks), 1), FEWEST_DRAWN), MOST_DRAWN)
    tables = [_taken(alike, n_splits, unit, random) for alike in _chunks(tasks, n_splits)]

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


def _chunks(tasks: list[RewardTask], n_splits: int) -> Iterator[list[RewardTask]]:
    """Tasks with the same repeats, as many as are held at a time."""
    size = max(CHUNK // n_splits, 1)
    for _, own in groupby(tasks, key=lambda task: task[:2]):
        alike = list(own)
        yield from (alike[start : start + size] for start in range(0, len(alike), size))


def _most(n_candidate: int, rewards: Numbers, unit: float) -> float:
    """What a task would change by if the candidate had all of its rewards, and the base none."""
    return float(np.rint(rewards.sum() * (unit / n_candidate)))


def _taken(
    tasks: list[RewardTask], n_splits: int, unit: float, random: np.random.Generator
) -> Numbers:
    """What splits take away from that, a task a row: the rewards that are the base's instead.

    The base has a stretch of a shuffle, from each of its places on: every rollout is the base's
    equally often, so that the mean change is 0. Tasks share the shuffles, each in its own order.
    """
    n_base, n_candidate, _ = tasks[0]
    n = n_base + n_candidate
    rewards = np.stack([own for _, _, own in tasks]) * (unit / n_base + unit / n_candidate)
    shuffles = random.permuted(np.tile(np.arange(n)[:, None], -(-n_splits // n)), axis=0)
    around = np.concatenate((shuffles, shuffles[:n_base]))
    running = np.cumsum(random.permuted(rewards, axis=1)[:, around], axis=1)
    taken = running[:, n_base:] - running[:, :n]
    return np.asarray(np.rint(taken, out=taken).reshape(len(tasks), -1))
