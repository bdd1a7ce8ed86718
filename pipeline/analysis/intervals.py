"""Intervals around the figures of a run and of a comparison, and the verdict on a change."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipeline.analysis import stats
from pipeline.analysis.stats import Numbers, added, flags, numbers
from pipeline.relation import computed


def estimates(rows: pa.Table) -> pa.Table:
    """The estimates with both intervals of each; null where they are undefined."""
    value, *spread = _columns(rows, "value", "se_new_tasks", "n_groups", "degrees")
    sampling = _columns(rows, "se_same_tasks", "n_mixed_tasks")
    is_bounded = flags(rows["is_bounded"])
    new = stats.new_tasks_interval(value, *spread, is_bounded=is_bounded)
    same = stats.same_tasks_interval(value, *sampling, is_bounded=is_bounded)
    return added(rows, **_ends("ci_new_tasks", new), **_ends("ci_same_tasks", same))


def comparison_tests(rows: pa.Table) -> pa.Table:
    """Intervals, the detectable change, p-values and a verdict for each comparison."""
    headline = _columns(rows, "delta", "se_new_tasks", "n_groups", "degrees")
    counted = _columns(
        rows, "delta_counted_as_fail", "se_counted_as_fail", "n_counted_groups", "counted_degrees"
    )
    possible = _columns(
        rows, "delta_possible", "se_possible", "n_possible_groups", "possible_degrees"
    )
    delta, se_new, _, degrees = headline
    se_same, se_same_counted = _columns(rows, "se_same_tasks", "se_same_counted_as_fail")
    n_mixed, p_signs, p_any, margin = _columns(rows, "n_mixed_tasks", "p_signs", "p_any", "margin")
    level = np.maximum(*map(np.abs, _columns(rows, "base_common", "candidate_common")))
    p_mean = np.where(np.isnan(p_signs), stats.t_test(*headline, scale=level), p_signs)
    # Over all candidates of all benchmarks, by the metric that decides; a pair that nobody asked
    # about is one of all such pairs.
    p_holm = stats.within(stats.holm, p_mean, rows["is_named"], rows["is_lead"])
    new, decided, widest = (
        stats.change_interval(*each, is_bounded=flags(rows["is_bounded"]))
        for each in (headline, counted, possible)
    )
    same = stats.same_tasks_change_interval(delta, se_same, n_mixed)
    same_counted = stats.same_tasks_change_interval(counted[0], se_same_counted, n_mixed)
    said = stats.verdict(*decided, *_columns(rows, "bound_low", "bound_high"), margin=margin)
    # Tasks that only one run has, were they lost, must not turn it round.
    whole = stats.verdict(*widest, *_columns(rows, "possible_low", "possible_high"), margin=margin)
    first = stats.decision(said, p_mean, p_any)
    held = np.where(first == whole, first, stats.INCONCLUSIVE)
    (n_paired,) = _columns(rows, "n_paired_tasks")
    verdict, verdict_holm = (
        np.where(n_paired > 0, stats.decision(held, p_value), stats.NOT_COMPARABLE)
        for p_value in (p_mean, p_holm)
    )
    return added(
        rows,
        **_ends("ci_new_tasks", new),
        **_ends("ci_same_tasks", same),
        **_ends("ci_counted_as_fail", decided),
        **_ends("ci_same_counted_as_fail", same_counted),
        mde_new_tasks=stats.detectable(se_new, degrees),
        mde_same_tasks=stats.detectable(se_same, np.full_like(se_same, np.inf)),
        p_mean=p_mean,
        p_holm=p_holm,
        verdict=verdict,
        verdict_holm=verdict_holm,
        could_reverse=(n_paired > 0) & (first != held),
    )


def measure_changes(rows: pa.Table) -> pa.Table:
    """Each other figure that is a mean of differences between tasks, with its interval."""
    delta, se, n_tasks = _columns(rows, "delta", "se_new_tasks", "n_tasks")
    is_bounded = np.array([name.startswith("pass_") for name in rows["metric"].to_pylist()], bool)
    found = stats.change_interval(delta, se, n_tasks, n_tasks - 1, is_bounded=is_bounded)
    return added(rows, **_ends("ci_new_tasks", found))


def ledger_lines(lines: pa.Table) -> pa.Table:
    """Each line, with an interval where it is a mean of differences that vary."""
    amount, se, n_units = _columns(lines, "amount", "se", "n_units")
    is_bounded = np.zeros(len(lines), dtype=bool)
    found = stats.change_interval(amount, se, n_units, n_units - 1, is_bounded=is_bounded)
    return added(lines, **_ends("ci", found))


def _columns(rows: pa.Table, *names: str) -> tuple[Numbers, ...]:
    return tuple(numbers(rows[name]) for name in names)


def _ends(name: str, ends: tuple[Numbers, Numbers]) -> dict[str, Numbers]:
    return {f"{name}_low": ends[0], f"{name}_high": ends[1]}


ESTIMATES = computed("staging.estimates", estimates)
COMPARISON_TESTS = computed("staging.comparison_tests", comparison_tests)
MEASURE_CHANGES = computed("staging.measure_changes", measure_changes)
LEDGER_LINES = computed("staging.ledger_lines", ledger_lines)
