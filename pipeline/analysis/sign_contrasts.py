"""Signs that go with one run among those that fail a task, and signs that go with a low reward."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from .max_t import max_t, n_permutations
from .modes import left_out
from .signs import (
    LEVEL,
    Attempts,
    Integers,
    Numbers,
    Row,
    Sign,
    by_benchmark,
    groups,
    share,
)
from .subsets import Flags, Selection

# Fewer failures of a run, or of all others, show nothing.
LEAST_FAILURES = 5
LEAST_BEARING = 3
# What few of many attempts bear moves no score.
LEAST_SHARE_BEARING = 0.01
MOST_OF_A_RUN = 2
MOST_LOW = 3
# A field or a tool that all attempts of a run share is a setting; an empty answer is not.
NEVER_SETTINGS = ("answer", "error", "limit", "ungraded")


def run_contrasts(rows: pa.Table) -> pa.Table:
    """Of each run the signs that more of its failures bear, at tasks that others fail too."""
    return by_benchmark(rows, RUN_COLUMNS, _differing_runs)


def _differing_runs(signs: Sequence[Sign], attempts: Attempts) -> Iterator[Row]:
    # How a text begins is a model's manner, how a grader explains is the grader's, and the largest
    # of a run is another number in each.
    # Attempts without a grade are listed before all else.
    signs = [
        one
        for one in _telling(signs, attempts)
        if one.kind not in ("ungraded", "explanation")
        and not one.value.startswith("begins with")
        and "the largest of the run" not in one.text
    ]
    n_runs = len(attempts.run_names)
    # Nobody knows whether an attempt without a score failed.
    fails = attempts.fails & ~np.isnan(attempts.reward) if attempts.reward.size else attempts.fails
    for run, run_id in enumerate(attempts.run_names):
        is_own = attempts.run == run
        shared = np.intersect1d(attempts.task[fails & is_own], attempts.task[fails & ~is_own])
        is_compared = fails & np.isin(attempts.task, shared)
        compared = Selection(is_compared)
        # Each run is a family of tests of its own.
        level = LEVEL / n_runs
        least_p = 1 / (1 + n_permutations(compared.size))
        is_testable = n_runs > 1 and least_p < level
        if not is_testable or _least_of_both(is_own[is_compared]) < LEAST_FAILURES:
            continue
        own_passes, own_failures = Selection(is_own & attempts.passes), Selection(is_own & fails)
        passes, failures = Selection(~is_own & attempts.passes), Selection(~is_own & fails)
        usable = [
            _among(sign, compared)
            for sign in signs
            if _is_usable(sign, compared)
            and not _is_manner(sign, own_passes, own_failures)
            and not (
                sign.bears.count(passes.flags)
                and (sign.scope == "run" or _is_manner(sign, passes, failures))
            )
        ]
        is_run = is_own[is_compared]
        own, others = Selection(is_run), Selection(~is_run)
        candidates = {
            sign
            for sign in usable
            if _is_clear(sign, own, others) and not _is_usual(sign, attempts.run[is_compared], run)
        }
        if not candidates:
            continue  # All usable signs are one family of tests, which takes long.
        p_values = max_t(usable, attempts.task[is_compared], is_run)
        clear = {
            sign: float(p_value)
            for sign, p_value in zip(usable, p_values, strict=True)
            if p_value < level and sign in candidates
        }
        for sign, _ in groups(list(clear))[:MOST_OF_A_RUN]:
            yield (
                run_id,
                *(sign.kind, sign.name, sign.value, sign.text),
                sign.bears.count(own.flags),
                own.count(sign.known),
                sign.bears.count(others.flags),
                others.count(sign.known),
                len(shared),
                clear[sign],
            )


def _least_of_both(flags: Flags) -> int:
    """How many have a flag or how many have none, whichever is less."""
    n = int(flags.sum())
    return min(n, len(flags) - n)


def _is_usable(sign: Sign, compared: Selection) -> bool:
    """Enough of these attempts bear it, not all do, and it is no setting."""
    n_bearing = sign.bears.count(compared.flags)
    is_of_attempts = sign.scope == "rollout" or sign.kind in NEVER_SETTINGS
    return is_of_attempts and LEAST_BEARING <= n_bearing < compared.count(sign.known)


def _among(sign: Sign, compared: Selection) -> Sign:
    return replace(
        sign,
        bears=compared.part(sign.bears),
        known=compared.cached_part(sign.known),
        first=None if sign.first is None else sign.first.among(compared),
    )


def _is_clear(sign: Sign, own: Selection, others: Selection) -> bool:
    """Half as often again as in the others, and ten points more."""
    share_own, share_others = share(sign, own), share(sign, others)
    return (
        share_own >= 1.5 * share_others
        and share_own >= share_others + 0.1
        and sign.bears.count(own.flags) >= LEAST_BEARING
    )


def _is_manner(sign: Sign, passing: Selection, failing: Selection) -> bool:
    """Passes bear it as often as failures: it says nothing of failing."""
    is_known = passing.count(sign.known) >= LEAST_BEARING
    return is_known and share(sign, passing) >= share(sign, failing)


def _is_usual(sign: Sign, runs: Integers, run: int) -> bool:
    """Most of the other runs bear it, too: in at least half as many of their failures."""
    n_known = np.bincount(runs[sign.known.places], minlength=run + 1)
    n_bearing = np.bincount(runs[sign.bears.places], minlength=len(n_known))
    own = n_bearing[run] / n_known[run] if n_known[run] else 0.0
    others = [
        n_bearing[other] / n_known[other] for other in np.flatnonzero(n_known) if other != run
    ]
    return bool(2 * sum(2 * each >= own for each in others) > len(others))


def reward_contrasts(rows: pa.Table) -> pa.Table:
    """The signs whose bearers have lower rewards than the other attempts of their run."""
    return by_benchmark(rows, REWARD_COLUMNS, _low_rewards)


def _low_rewards(signs: Sequence[Sign], attempts: Attempts) -> Iterator[Row]:
    signs = _telling(signs, attempts)
    scored = ~np.isnan(attempts.reward)
    reward = attempts.reward[scored]
    compared = Selection(scored)
    usable = [_among(sign, compared) for sign in signs if _is_usable(sign, compared)]
    p_values = max_t(usable, attempts.run[scored], -_ranks(reward))
    n_runs = len(np.unique(attempts.run[scored]))
    clear = {
        sign: float(p_value)
        for sign, p_value in zip(usable, p_values, strict=True)
        if p_value < LEVEL
        and LEAST_SHARE_BEARING * sign.known.size <= sign.bears.size < sign.known.size
    }
    for sign, _ in groups(sorted(clear, key=lambda sign: (clear[sign], sign.text)))[:MOST_LOW]:
        without = sign.known - sign.bears
        runs = np.unique(attempts.run[scored][sign.known.places])
        yield (
            *(sign.kind, sign.name, sign.value, sign.text),
            [attempts.run_names[run] for run in runs] if len(runs) < n_runs else [],
            sign.bears.size,
            without.size,
            float(np.median(reward[sign.bears.places])),
            float(np.median(reward[without.places])),
            clear[sign],
        )


def _ranks(values: Numbers) -> Numbers:
    """Ranks from 1, those of equal values averaged."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[places])


def _telling(signs: Sequence[Sign], attempts: Attempts) -> list[Sign]:
    """The signs that do not say the score again."""
    out = left_out(signs, attempts)
    return [sign for sign in signs if sign.field not in out and sign.kind != "profile"]


SIGN_COLUMNS = [
    ("kind", pa.string()),
    ("name", pa.string()),
    ("value", pa.string()),
    ("sign", pa.string()),
]
RUN_COLUMNS = pa.schema(
    [
        ("benchmark", pa.string()),
        ("run_id", pa.string()),
        *SIGN_COLUMNS,
        ("n_failures", pa.int64()),
        ("n_failures_observed", pa.int64()),
        ("n_other_failures", pa.int64()),
        ("n_other_failures_observed", pa.int64()),
        ("n_tasks", pa.int64()),
        ("p_adjusted", pa.float64()),
    ]
)
REWARD_COLUMNS = pa.schema(
    [
        ("benchmark", pa.string()),
        *SIGN_COLUMNS,
        ("runs", pa.list_(pa.string())),
        ("n_with", pa.int64()),
        ("n_without", pa.int64()),
        ("reward_with", pa.float64()),
        ("reward_without", pa.float64()),
        ("p_adjusted", pa.float64()),
    ]
)
