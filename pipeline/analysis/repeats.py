"""Whether a sign goes with failing, or with a few tasks that are tried several times and fail."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .max_t import CHUNK, ROUNDING, n_permutations
from .signs import LEVEL, Attempts, Integers, Numbers, Sign

# The 95th percentile of the normal distribution.
ONE_SIDED = 1.645
# Of fewer attempts per task outcomes are hardly repeated.
LEAST_REPEATS = 2


def beyond_single_tasks(signs: Sequence[Sign], attempts: Attempts) -> list[Sign]:
    """The signs that go with failing among the attempts at a task, or among tasks.

    Attempts at one task tend to fail together, in all runs. A test that takes them for independent
    is sure of a sign that two tasks have in each of twenty runs; with two tasks nothing is shown.
    """
    n_tasks = len(np.unique(attempts.task))
    if not signs or len(attempts.task) < LEAST_REPEATS * n_tasks:
        return list(signs)
    tasks = np.unique(attempts.task, return_inverse=True)[1]
    is_shown = _within_tasks(signs, attempts, tasks) | _among_tasks(signs, attempts, tasks)
    return [sign for sign, shown in zip(signs, is_shown, strict=True) if shown]


def _within_tasks(signs: Sequence[Sign], attempts: Attempts, tasks: Integers) -> np.ndarray:
    """By the test of Cochran, Mantel and Haenszel: tasks are the strata."""
    is_shown = np.zeros(len(signs), dtype=bool)
    for number, sign in enumerate(signs):
        known = sign.known.flags
        strata = tasks[known]
        bears, fails = sign.bears.flags[known], attempts.fails[known]
        n, n_bears, n_fails, n_both = (
            np.bincount(strata[chosen], minlength=tasks.max() + 1).astype(float)
            for chosen in (slice(None), bears, fails, bears & fails)
        )
        size = np.maximum(n, 1)
        excess = (n_both - n_bears * n_fails / size).sum()
        variance = (
            n_bears * (n - n_bears) * n_fails * (n - n_fails) / (size**2 * np.maximum(n - 1, 1))
        ).sum()
        is_shown[number] = excess > ONE_SIDED * np.sqrt(variance)
    return is_shown


def _among_tasks(signs: Sequence[Sign], attempts: Attempts, tasks: Integers) -> np.ndarray:
    """Whether tasks that have the sign more fail more, when the failing of tasks is shuffled."""
    n_tasks = int(tasks.max()) + 1
    failing = _of_tasks(attempts.fails.astype(float), attempts.run, tasks, n_tasks)
    bearing = np.stack(
        [_of_tasks(sign.bears.flags.astype(float), attempts.run, tasks, n_tasks) for sign in signs]
    )
    observed = bearing @ failing
    slack = ROUNDING * np.abs(bearing).sum(axis=1) * np.abs(failing).max()
    generator = np.random.default_rng(0)
    n_draws = n_permutations(n_tasks)
    n_beyond = np.zeros(len(signs))
    for first in range(0, n_draws, CHUNK):
        n = min(CHUNK, n_draws - first)
        drawn = generator.permuted(np.repeat(failing[:, None], n, axis=1), axis=0)
        n_beyond += (bearing @ drawn >= (observed - slack)[:, None]).sum(axis=1)
    return np.asarray((n_beyond + 1) / (n_draws + 1) < LEVEL)


def _of_tasks(values: Numbers, runs: Integers, tasks: Integers, n_tasks: int) -> Numbers:
    """The mean of each task beyond the means of its runs, less the mean of all tasks."""
    of_runs = np.bincount(runs, values) / np.maximum(np.bincount(runs), 1)
    rest = np.bincount(tasks, values - of_runs[runs], minlength=n_tasks)
    means = rest / np.bincount(tasks, minlength=n_tasks)
    return np.asarray(means - means.mean())
