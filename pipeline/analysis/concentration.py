"""Where the failures of a mode concentrate, and how long failures are beside passes."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa

from .stats import Numbers, added, holm, log_choose, within

# The interval of a median needs so many tasks to be one of 95%.
LEAST_TASKS = 6
LEVEL = 0.95


def concentrations(slices: pa.Table) -> pa.Table:
    """The slices, with the chance of so many failures or more in one of them, and it adjusted."""
    p_values = np.array(
        [
            at_least(int(k), int(n), int(size), int(total))
            for k, n, size, total in zip(
                *(
                    slices[name].to_pylist()
                    for name in ("n_failures", "n_mode_failures", "n_attempts", "n_all_attempts")
                ),
                strict=True,
            )
        ],
        dtype=float,
    )
    adjusted = within(holm, p_values, slices["benchmark"])
    return added(slices, p_value=p_values, p_adjusted=adjusted)


def at_least(k: int, n: int, size: int, total: int) -> float:
    """The chance that of n attempts drawn from all at least k are of a slice of this size."""
    hits = np.arange(k, min(n, size) + 1)
    logs = log_choose(size, hits) + log_choose(total - size, n - hits)
    return float(min(1.0, np.exp(logs - log_choose(total, np.asarray(n))).sum()))


def size_contrasts(tasks: pa.Table) -> pa.Table:
    """One row per measure: the median over tasks of failing / passing - 1, with its interval."""
    shares: dict[tuple[str, str], list[float]] = defaultdict(list)
    rows = zip(*(tasks[name].to_pylist() for name in tasks.column_names), strict=True)
    for benchmark, measure, _run, _task, failing, passing in rows:
        if passing > 0:
            shares[benchmark, measure].append(failing / passing - 1)
    listed = [
        (*key, len(values), *_median(np.sort(np.asarray(values))))
        for key, values in sorted(shares.items())
        if len(values) >= LEAST_TASKS
    ]
    names = ("benchmark", "measure", "n_tasks", "difference", "low", "high")
    types = (pa.string(), pa.string(), pa.int64(), pa.float64(), pa.float64(), pa.float64())
    columns = list(zip(*listed, strict=True)) or [()] * len(names)
    return pa.table(
        {
            name: pa.array(column, kind)
            for name, column, kind in zip(names, columns, types, strict=True)
        }
    )


def _median(values: Numbers) -> tuple[float, float, float]:
    """The median, and the order statistics that hold it in at least 95% of samples."""
    n = len(values)
    places = np.arange(n + 1)
    chances = np.exp(log_choose(n, places) - n * np.log(2))
    below = np.cumsum(chances)
    # The last place whose tail is at most 2.5%, counted from both ends.
    place = int((below <= (1 - LEVEL) / 2 + 1e-12).sum())
    low = values[place - 1] if place else -np.inf
    high = values[n - place] if place else np.inf
    return float(np.median(values)), float(low), float(high)
