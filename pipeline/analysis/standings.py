"""The ranks a run may have, how often it is best, and what a rerun changes."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .stats import LEVEL, Counts, Mask, Numbers, coded, holm, mean, t_test

N_DRAWS = 2_000
TINIEST = 1e-300
# Resampled counts held at a time.
CHUNK = 2**20
# More groups of tasks are drawn by what they are worth to the runs, which few differ in.
MANY_GROUPS = 2**12
SCHEMA = pa.schema(
    {
        "run_id": pa.string(),
        **dict.fromkeys(("n_ranked_tasks", "rank_low", "rank_high"), pa.int64()),
        "p_best": pa.float64(),
        "n_reruns": pa.int64(),
        **dict.fromkeys(("rerun_sd", "rerun_se"), pa.float64()),
    }
)


Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Shared:
    """The tasks that all of some runs scored, by id: a row per run, a column per task."""

    run_ids: list[str]
    task_ids: list[str]
    groups: Counts
    values: Numbers
    n_scored: Numbers
    variances: Numbers

    @property
    def seed(self) -> int:
        """Of tasks and what runs scored: neither the runs' names nor their order change it."""
        seed = sha256("\0".join(self.task_ids).encode())
        runs = np.stack([self.values, self.n_scored], axis=1).astype("<f8")
        for own in sorted(run.tobytes() for run in runs):
            seed.update(own)
        return int.from_bytes(seed.digest(), "little")


def standings(tasks: pa.Table) -> pa.Table:
    """A row for each run of a benchmark that has several: its ranks, and how its reruns vary."""
    columns = {name: tasks[name].to_numpy() for name in tasks.column_names}
    by_run: dict[str, dict[str, Any]] = {
        run: {"run_id": run} for run in dict.fromkeys(columns["run_id"])
    }
    benchmark, benchmarks = coded(columns["benchmark"])
    setting, settings = coded(columns["settings"])
    for code in range(len(benchmarks)):
        shared = _shared(columns, benchmark == code)
        if len(set(shared.groups.tolist())) > 1 and np.isfinite(shared.values).all():
            low, high = ranks(shared.values, shared.n_scored, shared.variances, shared.groups)
            p_best = shares_of_best(shared.values, shared.groups, seed=shared.seed)
            for place, run in enumerate(shared.run_ids):
                by_run[run] |= {"n_ranked_tasks": len(shared.task_ids), "p_best": p_best[place]}
                by_run[run] |= {"rank_low": low[place], "rank_high": high[place]}
    for code in range(len(settings)):
        shared = _shared(columns, setting == code)
        if len(shared.run_ids) > 1 and shared.task_ids:
            sd, se = rerun_spread(shared.values, shared.variances, shared.n_scored)
            for run in shared.run_ids:
                by_run[run] |= {"n_reruns": len(shared.run_ids), "rerun_sd": sd, "rerun_se": se}
    return pa.Table.from_pylist(list(by_run.values()), schema=SCHEMA)


def _shared(columns: Columns, is_own: Mask) -> Shared:
    """Rows come run by run and by task: those of tasks that all runs have make a matrix."""
    own = {name: values[is_own] for name, values in columns.items()}
    run_ids = list(dict.fromkeys(own["run_id"]))
    task, task_ids = coded(own["task_id"])
    is_shared = (np.bincount(task, minlength=len(task_ids)) == len(run_ids))[task]
    rows = {name: values[is_shared] for name, values in own.items()}
    n_tasks = len(rows["task_id"]) // max(len(run_ids), 1)
    group, _ = coded(rows["task_group"][:n_tasks])
    # A task without a group is a group of its own.
    alone = group < 0
    group[alone] = group.max(initial=-1) + 1 + np.arange(alone.sum())
    shape = (len(run_ids), n_tasks)
    return Shared(
        run_ids=run_ids,
        task_ids=rows["task_id"][:n_tasks].tolist(),
        groups=group,
        # Plus 0 there is no negative zero, which would be another seed.
        values=rows["value"].reshape(shape).astype(np.float64) + 0.0,
        n_scored=rows["n_scored"].reshape(shape).astype(np.float64),
        variances=rows["sampling_variance"].reshape(shape).astype(np.float64),
    )


def ranks(
    values: Numbers, n_scored: Numbers, variances: Numbers, groups: Counts
) -> tuple[Counts, Counts]:
    """The ranks that each run may have: those that are shown to be better come before it.

    Each two are compared over all tasks by t, Holm over all pairs: that no run is put before one
    that is at least as good holds for all of them together. The error is at least that of attempts
    dealt out again. Runs that are not clearly different share ranks.
    """
    n_runs, n_tasks = values.shape
    _, group = np.unique(groups, return_inverse=True)
    sizes = np.bincount(group).astype(np.float64)
    factor = n_tasks / np.maximum(n_tasks - sizes, 0.5)
    spread = (n_scored - 1) * n_scored * np.where(np.isnan(variances), 0, variances)
    moved, errors = [], []
    for run in range(n_runs - 1):
        change = values[run + 1 :] - values[run]
        n, other = n_scored[run], n_scored[run + 1 :]
        pooled = spread[run] + spread[run + 1 :] + n * other / (n + other) * change**2
        dealt = pooled / (n + other - 1) * (1 / n + 1 / other)
        mean_change = change.mean(axis=1)
        off = change - mean_change[:, None]
        by_group = np.stack([np.bincount(group, own, minlength=len(sizes)) for own in off])
        clustered = (by_group**2 * factor).sum(axis=1)
        moved.append(mean_change)
        errors.append(np.sqrt(np.maximum(clustered, dealt.sum(axis=1))) / n_tasks)
    change, se = np.concatenate(moved), np.concatenate(errors)
    n_units = np.full(len(change), float(len(sizes)))
    scale = np.full(len(change), max(float(np.abs(values).max()), TINIEST))
    p_values = holm(t_test(change, se, n_units, n_units - 1, scale=scale))
    one, other_run = np.triu_indices(n_runs, 1)
    is_sure = p_values <= 1 - LEVEL
    better = np.where(change > 0, other_run, one)[is_sure]
    worse = np.where(change > 0, one, other_run)[is_sure]
    low = 1 + np.bincount(worse, minlength=n_runs)
    return low, n_runs - np.bincount(better, minlength=n_runs)


def shares_of_best(values: Numbers, groups: Counts, *, seed: int) -> Numbers:
    """The share of resamples of the tasks in which each run is best; runs that tie share it.

    Tasks of a group are drawn together.
    """
    n_runs = len(values)
    _, group = np.unique(groups, return_inverse=True)
    n_groups, largest_group = int(group.max()) + 1, int(np.bincount(group).max())
    # In whole numbers that doubles hold exactly, sums do not depend on their order.
    n_drawn = n_groups * largest_group
    largest = float(np.abs(values).max()) or 1.0
    exponent = 50 - np.ceil(np.log2(n_drawn) + np.log2(largest))
    whole = np.rint(values * np.exp2(np.minimum(exponent, 1000)))
    sums = np.zeros((n_groups, n_runs))
    np.add.at(sums, group, whole.T)
    n_alike = np.ones(n_groups)
    if n_groups > MANY_GROUPS:
        sums, n_alike = _distinct(sums)
    random = np.random.default_rng(seed)
    wins = np.zeros(n_runs)
    size = max(CHUNK // max(len(sums), n_runs), 1)
    for start in range(0, N_DRAWS, size):
        n = min(size, N_DRAWS - start)
        drawn = random.multinomial(n_groups, n_alike / n_groups, n)
        totals = drawn.astype(np.float64) @ sums
        is_best = totals >= totals.max(axis=1, keepdims=True) - n_drawn
        wins += (is_best / is_best.sum(axis=1, keepdims=True)).sum(axis=0)
    return wins / N_DRAWS


def _distinct(rows: Numbers) -> tuple[Numbers, Numbers]:
    """The rows that differ, as they first come, and how many there are of each.

    Their order does not depend on that of the columns.
    """
    _, first, n_alike = np.unique(rows, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    return rows[first[order]], n_alike[order].astype(np.float64)


def rerun_spread(
    values: Numbers, variances: Numbers, n_scored: Numbers
) -> tuple[float | None, float | None]:
    """How reruns' means vary, and how much of that sampling of their attempts does not explain.

    A task with one attempt is given the run's mean variance of an attempt; without repeats nothing
    says what sampling explains.
    """
    n_tasks = values.shape[1]
    with np.errstate(all="ignore"):
        variance = float(np.sort(values, axis=1).mean(axis=1).var(ddof=1))
        if not np.isfinite(variance):
            return None, None
        is_known = ~np.isnan(variances)
        within = [mean(own[~np.isnan(own)]) for own in variances * n_scored]
        filled = np.where(is_known, variances, np.array(within)[:, None] / n_scored)
        sampling = float(np.mean(np.sort(filled, axis=1).sum(axis=1) / n_tasks**2))
    if not np.isfinite(sampling):
        return float(np.sqrt(variance)), None
    return float(np.sqrt(variance)), float(np.sqrt(max(variance - sampling, 0)))
