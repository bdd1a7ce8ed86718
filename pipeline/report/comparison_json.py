"""A comparison for a program: one flat object a candidate and metric, the same keys every time."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from pipeline.report.comparisons import Change, Comparison, Ledger
from pipeline.report.figures import Row
from pipeline.report.sidecar import picked
from pipeline.report.wording import rounded

PAIRING = "verified unverified contradicted base_only candidate_only not_scored".split()
LEVELS = "base_value candidate_value total_change delta se_new_tasks se_same_tasks".split()
TESTED = "p_mean p_any p_holm test n_draws n_draws_any".split()
DECIDED = (
    "verdict verdict_holm could_reverse margin on_these_tasks on_these_tasks_counted_as_fail "
    "n_gains n_losses".split()
)
SETTING = ("base_value", "candidate_value", "n_tasks")
LINE = (
    "line effect amount shown ci_low ci_high n_tasks n_tasks_by_noise amount_by_noise "
    "example".split()
)
TASK = (
    "task_id base_value candidate_value change amount base_bucket candidate_bucket base_example "
    "candidate_example".split()
)
METRIC = (
    "k n_tasks base_value candidate_value delta se_new_tasks ci_new_tasks_low "
    "ci_new_tasks_high".split()
)
FLIP = (
    "task_id side base_pass_rate candidate_pass_rate change failing passing difference "
    "tools_of_passes tools_of_failures failing_mode".split()
)


def objects(found: Iterable[Comparison]) -> list[dict[str, Any]]:
    """Every candidate by every metric, the metric that leads first."""
    return [
        comparison_object(comparison, change)
        for comparison in found
        for change in comparison.changes
    ]


def comparison_object(comparison: Comparison, change: Change) -> dict[str, Any]:
    """What changed from a base to a candidate by one metric."""
    row = change.row.values
    return {
        "base": comparison.base,
        "candidate": comparison.candidate,
        "metric": change.metric,
        "benchmark": comparison.benchmark,
        "is_lead": row["is_lead"],
        "n_common_tasks": row["n_common_tasks"],
        "pairing": {
            **{name: row[f"n_{name}"] for name in PAIRING},
            "refused_tasks": [task.values["task_id"] for task in comparison.refused],
        },
        "differs_in": {
            each.values["setting"]: picked(each.values, SETTING) for each in comparison.differing
        },
        **picked(row, LEVELS),
        "ci_new_tasks": _interval(row, "ci_new_tasks"),
        "ci_same_tasks": _interval(row, "ci_same_tasks"),
        "p_value": rounded(row["p_mean"]),
        **picked(row, TESTED),
        "mde": {side: rounded(row[f"mde_{side}"]) for side in ("new_tasks", "same_tasks")},
        "bounds": {
            "counted_as_fail": rounded(row["delta_counted_as_fail"]),
            "ci_counted_as_fail": _interval(row, "ci_counted_as_fail"),
            "low": rounded(row["bound_low"]),
            "high": rounded(row["bound_high"]),
            "is_expected_known": row["is_expected_known"],
        },
        **picked(row, DECIDED),
        "gains": [picked(task.values, TASK) for task in change.gains],
        "losses": [picked(task.values, TASK) for task in change.losses],
        "transitions": _transitions(comparison.transitions),
        "ledgers": _ledgers(change.ledgers),
        "metrics": {
            each.values["metric"]: picked(each.values, METRIC) for each in comparison.metrics
        },
        "flips": [picked(flip.values, FLIP) for flip in comparison.flips],
    }


def _transitions(cells: Iterable[Row]) -> dict[str, dict[str, Any]]:
    """From bucket to bucket: tasks, those that noise alone would move, and their part of pass@1."""
    found: dict[str, dict[str, Any]] = {}
    for cell in cells:
        told = picked(cell.values, ("n_tasks", "n_tasks_by_noise", "pass_change"))
        found.setdefault(cell.bucket_before, {})[cell.bucket_after] = told
    return found


def _ledgers(ledgers: Iterable[Ledger]) -> dict[str, Any]:
    """By name; slices by their key too."""
    found: dict[str, Any] = {}
    for ledger in ledgers:
        name = ledger.name.replace(" ", "_")
        if ledger.policy != "dropped":
            name = f"{name}_{ledger.policy}"
        told = {
            **picked(ledger.total.values, ("total", "total_shown", "is_reversal")),
            "lines": [picked(line.values, LINE) for line in ledger.lines],
        }
        if ledger.slice_key:
            found.setdefault(name, {})[ledger.slice_key] = told
        else:
            found[name] = told
    return found


def _interval(row: Any, name: str) -> list[float] | None:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    is_defined = low is not None and math.isfinite(low) and math.isfinite(high)
    return [rounded(low), rounded(high)] if is_defined else None
