"""Intervals around the figures of a run and of a comparison, and the verdict on a change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.analysis import stats
from pipeline.analysis.stats import Numbers, added, numbers
from pipeline.relation import computed


def estimates(rows: pa.Table) -> pa.Table:
    """The estimates with both intervals of each; null where they are undefined."""
    value, *spread = _columns(rows, "value", "se_new_tasks", "n_groups", "degrees")
    sampling = _columns(rows, "se_same_tasks", "n_mixed_tasks")
    is_bounded = _mask(rows["is_bounded"])
    new = stats.new_tasks_interval(value, *spread, is_bounded=is_bounded)
    same = stats.same_tasks_interval(value, *sampling, is_bounded=is_bounded)
    return added(rows, **_ends("ci_new_tasks", new), **_ends("ci_same_tasks", same))


def comparison_tests(rows: pa.Table) -> pa.Table:
    """Intervals, the detectable change, p-values and a verdict for each comparison."""
    delta, se_new, n_groups, degrees = _columns(
        rows, "delta", "se_new_tasks", "n_groups", "degrees"
    )
    se_same, n_mixed, p_signs, p_any = _columns(
        rows, "se_same_tasks", "n_mixed_tasks", "p_signs", "p_any"
    )
    counted, possible = (
        _columns(rows, f"delta_{name}", f"se_{name}", f"n_{short}_groups", f"{short}_degrees")
        for name, short in (("counted_as_fail", "counted"), ("possible", "possible"))
    )
    (se_same_counted,) = _columns(rows, "se_same_counted_as_fail")
    is_bounded = _mask(rows["is_bounded"])
    level = np.maximum(
        *(np.abs(each) for each in _columns(rows, "base_common", "candidate_common"))
    )
    p_mean = np.where(
        np.isnan(p_signs), stats.t_test(delta, se_new, n_groups, degrees, scale=level), p_signs
    )
    # Over all candidates of all benchmarks, by the metric that decides; a pair that nobody asked
    # about is one of all such pairs.
    p_holm = stats.within(stats.holm, p_mean, rows["is_named"], rows["is_lead"])
    new = stats.change_interval(delta, se_new, n_groups, degrees, is_bounded=is_bounded)
    decided, widest = (
        stats.change_interval(*each, is_bounded=is_bounded) for each in (counted, possible)
    )
    figures = {
        **_ends("ci_new_tasks", new),
        **_ends("ci_same_tasks", stats.same_tasks_change_interval(delta, se_same, n_mixed)),
        **_ends("ci_counted_as_fail", decided),
        **_ends(
            "ci_same_counted_as_fail",
            stats.same_tasks_change_interval(counted[0], se_same_counted, n_mixed),
        ),
        "mde_new_tasks": stats.detectable(se_new, degrees),
        "mde_same_tasks": stats.detectable(se_same, np.full_like(se_same, np.inf)),
        "p_mean": p_mean,
        "p_holm": p_holm,
    }
    bounds, beyond = (
        _columns(rows, "bound_low", "bound_high"),
        _columns(rows, "possible_low", "possible_high"),
    )
    (margin,) = _columns(rows, "margin")
    n_paired = rows["n_paired_tasks"].to_pylist()
    said = [stats.verdict(*each) for each in zip(*decided, *bounds, margin, strict=True)]
    # Tasks that only one run has, were they lost, must not turn it round.
    whole = [stats.verdict(*each) for each in zip(*widest, *beyond, margin, strict=True)]
    verdicts: dict[str, list[Any]] = {"verdict": [], "verdict_holm": [], "could_reverse": []}
    for own, with_others, p, p_adjusted, p_dealt, n in zip(
        said, whole, p_mean, p_holm, p_any, n_paired, strict=True
    ):
        first = stats.decision(own, p, p_dealt)
        held = first if first == with_others else stats.INCONCLUSIVE
        for name, p_value in (("verdict", p), ("verdict_holm", p_adjusted)):
            verdicts[name].append(stats.decision(held, p_value) if n else stats.NOT_COMPARABLE)
        verdicts["could_reverse"].append(bool(n) and first != held)
    found = added(rows, **figures)
    for name, values in verdicts.items():
        kind = pa.bool_() if name == "could_reverse" else pa.string()
        found = found.append_column(name, pa.array(values, kind))
    return found


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


def _mask(column: pa.ChunkedArray) -> stats.Mask:
    return np.asarray(column.to_pylist(), dtype=bool)


def _ends(name: str, ends: tuple[Numbers, Numbers]) -> dict[str, Numbers]:
    return {f"{name}_low": ends[0], f"{name}_high": ends[1]}


ESTIMATES = computed("staging.estimates", estimates)
COMPARISON_TESTS = computed("staging.comparison_tests", comparison_tests)
MEASURE_CHANGES = computed("staging.measure_changes", measure_changes)
LEDGER_LINES = computed("staging.ledger_lines", ledger_lines)
