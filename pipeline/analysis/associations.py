"""Which signs separate failures from passes of the same tasks, and what they go with."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipeline.analysis.stats import Numbers, added, numbers, q_values, t_quantile, within
from pipeline.relation import computed

# The share of false signs among those that count.
FALSE_SHARE = 0.10
# Where no task can tell, a sign counts if no pass bears it, of so many.
ENOUGH_PASSES = 10
# A terminal reason of the record needs no test, but not one failure alone either.
ENOUGH_FAILURES = 3


def mode_tests(signs: pa.Table) -> pa.Table:
    """The signs, with p (one-sided, exact, task by task), q within their benchmark, and who counts."""
    is_description = np.asarray(signs["is_description"].to_pylist(), dtype=bool)
    is_always = np.asarray(signs["is_always"].to_pylist(), dtype=bool)
    strata, observed = signs["strata"].to_pylist(), signs["n_observed"].to_pylist()
    p_value = np.array(
        [
            np.nan if text is None else common_p_value(_tasks(text), n)
            for text, n in zip(strata, observed, strict=True)
        ],
        dtype=float,
    )
    p_value[is_description] = np.nan
    q_value = within(q_values, p_value, signs["benchmark"])
    n_failed, n_passes = numbers(signs["n_signed_failed"]), numbers(signs["n_passes"])
    has_no_pass = numbers(signs["n_signed"]) == n_failed
    is_field = np.asarray(signs["is_field"].to_pylist(), dtype=bool)
    with np.errstate(invalid="ignore"):
        is_counted = (
            is_description
            | (is_always & (~is_field | (n_failed >= ENOUGH_FAILURES)))
            | (q_value < FALSE_SHARE)
            | (has_no_pass & (n_passes >= ENOUGH_PASSES))
        )
    found = added(
        signs.drop_columns(["strata", "n_observed", "is_field"]), p_value=p_value, q_value=q_value
    )
    return found.append_column("is_counted", pa.array(is_counted))


def common_p_value(tasks: list[tuple[int, int, int]], n_observed: int) -> float:
    """The chance of so many signed failures or more, if signs fell on attempts at random.

    A task of n attempts, f of them failures and s signed, is hypergeometric; tasks add up.
    """
    from scipy.stats import hypergeom

    total = np.ones(1)
    for task in tasks:
        total = np.convolve(total, hypergeom.pmf(np.arange(task[2] + 1), *task))
    return float(min(1.0, total[n_observed:].sum()))


def _tasks(text: str) -> list[tuple[int, int, int]]:
    parts = (part.split(":") for part in text.split(" "))
    return [(int(n), int(failed), int(signed)) for n, failed, signed in parts]


def associations(signs: pa.Table) -> pa.Table:
    """The signs, with the points of pass@1 they go with and their 95% CI by Student's t."""
    difference, error = numbers(signs["risk_difference"]), numbers(signs["standard_error"])
    share, n_tasks = numbers(signs["share"]), numbers(signs["n_tasks"])
    half = t_quantile(n_tasks - 1, n_tasks > 1) * error
    low, high = np.maximum(difference - half, -1), np.minimum(difference + half, 1)
    scale: Numbers = 100 * share
    found = added(
        signs,
        risk_low=low,
        risk_high=high,
        points=scale * difference,
        ci_low=scale * low,
        ci_high=scale * high,
    )
    return found.drop_columns(["standard_error"])


MODE_TESTS = computed("main.mode_tests", mode_tests)
ASSOCIATIONS = computed("main.associations", associations)
