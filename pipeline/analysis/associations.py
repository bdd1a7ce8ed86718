"""Which signs separate failures from passes of the same tasks, and what they go with."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pyarrow as pa

from pipeline.analysis.stats import (
    LEVEL,
    Numbers,
    added,
    flags,
    log_choose,
    numbers,
    q_values,
    strata,
    t_quantile,
    within,
)
from pipeline.relation import computed

# Attempts at a task, failures and signed ones among them.
Stratum = tuple[int, int, int]
# The share of false signs among those that count.
FALSE_SHARE = 0.10
# Where no task can tell, a sign counts if no pass bears it, of so many.
ENOUGH_PASSES = 10
# A terminal reason of the record needs no test, but more than one failure, and no passes that have
# it as often.
ENOUGH_FAILURES = 3
NO_SIGN = 0.25


def mode_tests(signs: pa.Table) -> pa.Table:
    """The signs, with p (one-sided, exact, by task), q within their benchmark, and who counts."""
    is_description, is_always = flags(signs["is_description"]), flags(signs["is_always"])
    texts, observed = signs["strata"].to_pylist(), signs["n_observed"].to_pylist()
    p_value = np.array(
        [
            np.nan if text is None else common_p_value(_tasks(text), n)
            for text, n in zip(texts, observed, strict=True)
        ],
        dtype=float,
    )
    p_value[is_description] = np.nan
    q_value = within(q_values, p_value, signs["benchmark"])
    n_failed, n_passes = numbers(signs["n_signed_failed"]), numbers(signs["n_passes"])
    has_no_pass = numbers(signs["n_signed"]) == n_failed
    is_field = flags(signs["is_field"])
    is_record = np.asarray(signs["source"].to_pylist()) == "record"
    with np.errstate(invalid="ignore"):
        is_counted = (
            # With no pass to compare with, a field's value may be everybody's.
            (is_description & ~(is_field & is_record & (n_passes == 0)))
            | (is_always & ~is_field)
            | (is_always & (n_failed >= ENOUGH_FAILURES) & ~(p_value > NO_SIGN))
            | (q_value < FALSE_SHARE)
            | (has_no_pass & (n_passes >= ENOUGH_PASSES))
        )
    n_tried = within(lambda p: np.full(len(p), np.isfinite(p).sum()), p_value, signs["benchmark"])
    return added(
        signs.drop_columns(["strata", "n_observed", "is_field"]),
        p_value=p_value,
        q_value=q_value,
        n_tried=n_tried.astype(int),
        is_counted=is_counted,
    )


def common_p_value(tasks: Counter[Stratum], n_observed: int) -> float:
    """The chance of so many signed failures or more, if signs fell on attempts at random.

    A task of n attempts, f of them failures and s signed, is hypergeometric; tasks add up, and
    their sum comes of a transform.
    """
    size = 1 + sum(task[2] * count for task, count in tasks.items())
    spectrum = np.ones(size // 2 + 1, dtype=complex)
    for task, count in tasks.items():
        spectrum *= np.fft.rfft(_chances(*task), size) ** count
    chances = np.fft.irfft(spectrum, size)
    return float(np.clip(chances[n_observed:].sum(), 0, 1))


@cache
def _chances(n: int, n_failed: int, n_signed: int) -> Numbers:
    """Of each count of signed failures in one task."""
    both = np.arange(n_signed + 1)
    log_chance = log_choose(n_failed, both) + log_choose(n - n_failed, n_signed - both)
    return np.asarray(np.exp(log_chance - log_choose(n, np.asarray(n_signed))))


def _tasks(text: str) -> Counter[Stratum]:
    tasks: Counter[Stratum] = Counter()
    for n, failed, signed, count in strata(text):
        tasks[n, failed, signed] += count
    return tasks


def associations(signs: pa.Table) -> pa.Table:
    """The signs, with the points of pass@1 they go with and their 95% CI by Student's t.

    The intervals hold for all signs of a benchmark together: the more are tried, the wider.
    """
    difference, error = numbers(signs["risk_difference"]), numbers(signs["standard_error"])
    share, n_tasks = numbers(signs["share"]), numbers(signs["n_tasks"])
    share_each = 1 - (1 - LEVEL) / 2 / numbers(signs["n_tried"])
    half = t_quantile(n_tasks - 1, n_tasks > 1, share=share_each) * error
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
    return found.drop_columns(["standard_error", "n_tried"])


MODE_TESTS = computed("main.mode_tests", mode_tests)
ASSOCIATIONS = computed("main.associations", associations)
