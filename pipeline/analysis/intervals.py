"""Intervals around the figures of a run and of a comparison, and the verdict on a change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from . import claims, stats
from .stats import Numbers, added, flags, numbers


def estimates(rows: pa.Table) -> pa.Table:
    """The estimates with both intervals of each; null where they are undefined."""
    value, *spread = _columns(rows, "value", "se_new_tasks", "n_groups", "degrees")
    sampling = _columns(rows, "se_same_tasks", "n_mixed_tasks")
    is_bounded = flags(rows["is_bounded"])
    new = stats.new_tasks_interval(value, *spread, is_bounded=is_bounded)
    same = stats.same_tasks_interval(value, *sampling, is_bounded=is_bounded)
    scale = _columns(rows, "lowest", "highest")
    new, same = _within(new, *scale), _within(same, *scale)
    return added(rows, **_ends("ci_new_tasks", new), **_ends("ci_same_tasks", same))


def _within(
    ends: tuple[Numbers, Numbers], lowest: Numbers, highest: Numbers
) -> tuple[Numbers, Numbers]:
    """The part of intervals between what was observed, where that is given; undefined stays so."""
    low, high = ends
    return (
        np.where(np.isnan(low), low, np.fmax(low, lowest)),
        np.where(np.isnan(high), high, np.fmin(high, highest)),
    )


def comparison_tests(rows: pa.Table) -> pa.Table:
    """Intervals, the detectable change, p-values and a verdict for each comparison."""
    headline = _columns(rows, "delta", "se_new_tasks", "n_groups", "degrees")
    delta, se_new, _, degrees = headline
    se_same, se_same_counted = _columns(rows, "se_same_tasks", "se_same_counted_as_fail")
    n_mixed, p_signs, p_any, margin = _columns(rows, "n_mixed_tasks", "p_signs", "p_any", "margin")
    n_paired, counted = _columns(rows, "n_paired_tasks", "delta_counted_as_fail")
    (by_rule,) = _columns(rows, "mde_by_rule")
    level = np.maximum(*map(np.abs, _columns(rows, "base_common", "candidate_common")))
    p_mean = np.where(np.isnan(p_signs), stats.t_test(*headline, scale=level), p_signs)
    # If no task changed, the mean did not.
    p_change = np.maximum(p_mean, p_any)
    # Over all candidates of all benchmarks, by the metric that decides; a pair that nobody asked
    # about is one of all such pairs.
    p_holm = stats.within(stats.holm, p_change, rows["is_named"], rows["is_lead"])
    is_bounded = flags(rows["is_bounded"])
    growing = claims.growing(rows)
    new, decided = (
        stats.change_interval(*each, is_bounded=is_bounded, growing=growing)
        for each in (headline, _columns(rows, *claims.SHARED))
    )
    same = stats.same_tasks_change_interval(delta, se_same, n_mixed)
    same_counted = stats.same_tasks_change_interval(counted, se_same_counted, n_mixed)
    shared = claims.evidence(rows, p_change, over=(claims.SHARED,)).verdict(margin)
    evidence = claims.evidence(rows, p_change)
    verdict, verdict_holm = (
        np.where(n_paired > 0, each.verdict(margin), claims.NOT_COMPARABLE)
        for each in (evidence, replace(evidence, p_value=p_holm))
    )
    # Tasks that only one run has, were they lost, must not turn it round.
    could_reverse = (verdict == claims.INCONCLUSIVE) & (shared != claims.INCONCLUSIVE)
    is_open = verdict == claims.INCONCLUSIVE
    is_clear = (new[0] > stats.ROUNDING) | (new[1] < -stats.ROUNDING)
    is_within = (new[0] > -margin) & (new[1] < margin) & (growing is None)
    by_test = np.where(p_mean > stats.MOST_BY_CHANCE, "p_mean", "p_any")
    decided_by = np.select(
        [
            verdict == claims.NOT_COMPARABLE,
            ~is_open & (verdict == claims.NO_CHANGE),
            ~is_open,
            could_reverse,
            is_clear & ~evidence.is_tested,
            is_clear,
            is_within,
        ],
        ["pairing", "unseen", "tests", "unshared", by_test, "missing", "unseen"],
        "interval",
    )
    return added(
        rows,
        **_ends("ci_new_tasks", new),
        **_ends("ci_same_tasks", same),
        **_ends("ci_counted_as_fail", decided),
        **_ends("ci_same_counted_as_fail", same_counted),
        **_ends("unseen", (evidence.wide_low, evidence.wide_high)),
        mde_new_tasks=np.where(
            flags(rows["is_mde_by_rule"]), by_rule, stats.detectable(se_new, degrees)
        ),
        mde_same_tasks=stats.detectable(se_same, np.full_like(se_same, np.inf)),
        p_mean=p_mean,
        p_holm=p_holm,
        verdict=verdict,
        verdict_holm=verdict_holm,
        decided_by=decided_by,
        could_reverse=could_reverse,
    )


def measure_changes(rows: pa.Table) -> pa.Table:
    """Each other figure that is a mean of differences between tasks, with its interval."""
    delta, se, n_tasks = _columns(rows, "delta", "se_new_tasks", "n_tasks")
    is_bounded = flags(rows["is_bounded"])
    interval = stats.change_interval(delta, se, n_tasks, n_tasks - 1, is_bounded=is_bounded)
    return added(rows, **_ends("ci_new_tasks", interval))


def ledger_lines(lines: pa.Table) -> pa.Table:
    """Each line, with an interval where it is a mean of differences that vary."""
    amount, se, n_units = _columns(lines, "amount", "se", "n_units")
    is_bounded = np.zeros(len(lines), dtype=bool)
    interval = stats.change_interval(amount, se, n_units, n_units - 1, is_bounded=is_bounded)
    return added(lines, **_ends("ci", interval))


def _columns(rows: pa.Table, *names: str) -> tuple[Numbers, ...]:
    return tuple(numbers(rows[name]) for name in names)


def _ends(name: str, ends: tuple[Numbers, Numbers]) -> dict[str, Numbers]:
    return {f"{name}_low": ends[0], f"{name}_high": ends[1]}
