"""Where a run stands: its rank if the tasks had been others, and what a rerun alone changes."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pipeline.analysis.stats import LEVEL, Counts, Mask, Numbers, coded, mean
from pipeline.relation import computed

N_DRAWS = 2_000
# Resampled counts held at a time.
CHUNK = 2**20
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
    found: dict[str, dict[str, Any]] = {
        run: {"run_id": run} for run in dict.fromkeys(columns["run_id"])
    }
    benchmark, benchmarks = coded(columns["benchmark"])
    setting, settings = coded(columns["settings"])
    for code in range(len(benchmarks)):
        shared = _shared(columns, benchmark == code)
        if len(set(shared.groups.tolist())) > 1 and np.isfinite(shared.values).all():
            low, high, p_best = ranks(shared.values, shared.groups, seed=shared.seed)
            for place, run in enumerate(shared.run_ids):
                found[run] |= {"n_ranked_tasks": len(shared.task_ids), "p_best": p_best[place]}
                found[run] |= {"rank_low": low[place], "rank_high": high[place]}
    for code in range(len(settings)):
        shared = _shared(columns, setting == code)
        if len(shared.run_ids) > 1 and shared.task_ids:
            sd, se = rerun_spread(shared.values, shared.variances, shared.n_scored)
            for run in shared.run_ids:
                found[run] |= {"n_reruns": len(shared.run_ids), "rerun_sd": sd, "rerun_se": se}
    return pa.Table.from_pylist(list(found.values()), schema=SCHEMA)


STANDINGS = computed("staging.standings", standings)


def _shared(columns: Columns, is_own: Mask) -> Shared:
    """Rows come run by run and by task: those of tasks that all runs have make a matrix."""
    own = {name: values[is_own] for name, values in columns.items()}
    run_ids = list(dict.fromkeys(own["run_id"]))
    task, task_ids = coded(own["task_id"])
    is_shared = (np.bincount(task, minlength=len(task_ids)) == len(run_ids))[task]
    kept = {name: values[is_shared] for name, values in own.items()}
    n_tasks = len(kept["task_id"]) // max(len(run_ids), 1)
    group, _ = coded(kept["task_group"][:n_tasks])
    # A task without a group is a group of its own.
    alone = group < 0
    group[alone] = group.max(initial=-1) + 1 + np.arange(alone.sum())
    shape = (len(run_ids), n_tasks)
    return Shared(
        run_ids=run_ids,
        task_ids=kept["task_id"][:n_tasks].tolist(),
        groups=group,
        # Plus 0 there is no negative zero, which would be another seed.
        values=kept["value"].reshape(shape).astype(np.float64) + 0.0,
        n_scored=kept["n_scored"].reshape(shape).astype(np.float64),
        variances=kept["sampling_variance"].reshape(shape).astype(np.float64),
    )


def ranks(values: Numbers, groups: Counts, *, seed: int) -> tuple[Counts, Counts, Numbers]:
    """Ranks that 95% of resamples of the tasks stay within, and the share in which a run is best.

    Runs that tie share the first place; they have all the ranks from the first to the last of them.
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
    random, best_ranks, last_ranks = np.random.default_rng(seed), [], []
    wins = np.zeros(n_runs)
    size = max(CHUNK // max(n_groups, n_runs), 1)
    for start in range(0, N_DRAWS, size):
        n = min(size, N_DRAWS - start)
        drawn = random.multinomial(n_groups, np.full(n_groups, 1 / n_groups), n)
        first, last = _places(drawn.astype(np.float64) @ sums, slack=n_drawn)
        wins += ((first == 0) / (last + 1)).sum(axis=0)
        best_ranks.append(first)
        last_ranks.append(last)
    below, tail = np.concatenate(best_ranks), round(N_DRAWS * (1 - LEVEL) / 2)
    above = np.concatenate(last_ranks)
    low, high = np.sort(below, axis=0)[tail], np.sort(above, axis=0)[N_DRAWS - 1 - tail]
    return low + 1, high + 1, wins / N_DRAWS


def _places(totals: Numbers, *, slack: float) -> tuple[Counts, Counts]:
    """From 0, the first and the last place of each run in each resample: ties have several."""
    n_runs = totals.shape[1]
    order = np.argsort(-totals, axis=1, kind="stable")
    falls = -np.diff(np.take_along_axis(totals, order, axis=1), axis=1) > slack
    ends = np.ones((len(totals), 1), dtype=bool)
    place = np.arange(n_runs)
    first = np.maximum.accumulate(np.where(np.hstack((ends, falls)), place, 0), axis=1)
    backwards = np.where(np.hstack((falls, ends)), place, n_runs)[:, ::-1]
    last = np.minimum.accumulate(backwards, axis=1)[:, ::-1]
    found = np.empty_like(order), np.empty_like(order)
    for own, sorted_places in zip(found, (first, last), strict=True):
        np.put_along_axis(own, order, sorted_places, axis=1)
    return found


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
