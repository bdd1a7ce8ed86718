"""Intervals around the figures of a run and of a comparison, and the verdict on a change."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipeline.analysis import stats
from pipeline.analysis.stats import Numbers, added, numbers
from pipeline.relation import computed


def estimates(rows: pa.Table) -> pa.Table:
    """The estimates with both intervals of each; null where they are undefined."""
    value, se_new, se_same, n_groups, n_mixed = _columns(
        rows, "value", "se_new_tasks", "se_same_tasks", "n_groups", "n_mixed_tasks"
    )
    is_bounded = _mask(rows["is_bounded"])
    new = stats.new_tasks_interval(value, se_new, n_groups, is_bounded=is_bounded)
    same = stats.same_tasks_interval(value, se_same, n_mixed, is_bounded=is_bounded)
    return added(rows, **_ends("ci_new_tasks", new), **_ends("ci_same_tasks", same))


def comparison_tests(rows: pa.Table) -> pa.Table:
    """Both intervals, the detectable change, Holm's p and a verdict for each comparison."""
    delta, se_new, n_groups, se_same, n_mixed, p_value = _columns(
        rows, "delta", "se_new_tasks", "n_groups", "se_same_tasks", "n_mixed_tasks", "p_value"
    )
    counted = _columns(rows, "delta_counted_as_fail", "se_counted_as_fail", "n_counted_groups")
    is_bounded = _mask(rows["is_bounded"])
    decided = stats.change_interval(*counted, is_bounded=is_bounded)
    figures = {
        **_ends(
            "ci_new_tasks", stats.change_interval(delta, se_new, n_groups, is_bounded=is_bounded)
        ),
        **_ends("ci_same_tasks", stats.same_tasks_change_interval(delta, se_same, n_mixed)),
        **_ends("ci_counted_as_fail", decided),
        "mde_new_tasks": stats.detectable(se_new, n_groups),
        "mde_same_tasks": stats.detectable(se_same, np.full_like(se_same, np.inf)),
        # Over all candidates that are compared with one base, by metric; a rerun is none.
        "p_holm": stats.within(
            stats.holm, p_value, *(rows[name] for name in ("base", "metric", "is_named"))
        ),
    }
    limits = _columns(rows, "bound_low", "bound_high", "margin")
    verdicts = [stats.verdict(*each) for each in zip(*decided, *limits, strict=True)]
    found = added(rows, **figures)
    return found.append_column("verdict", pa.array(verdicts, pa.string()))


def measure_changes(rows: pa.Table) -> pa.Table:
    """Each other figure that is a mean of differences between tasks, with its interval."""
    changes = _columns(rows, "delta", "se_new_tasks", "n_tasks")
    is_bounded = np.array([name.startswith("pass_") for name in rows["metric"].to_pylist()], bool)
    found = stats.change_interval(*changes, is_bounded=is_bounded)
    return added(rows, **_ends("ci_new_tasks", found))


def ledger_lines(lines: pa.Table) -> pa.Table:
    """Each line, with an interval where it is a mean of differences that vary."""
    amounts = _columns(lines, "amount", "se", "n_units")
    found = stats.change_interval(*amounts, is_bounded=np.zeros(len(lines), dtype=bool))
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
