"""A comparison for a program: one flat object a candidate and metric, the same keys every time."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from pipeline.report.comparisons import Change, Comparison, Ledger
from pipeline.report.sidecar import DECLARED, nested, picked
from pipeline.report.wording import rounded

OF = {name: columns.split() for name, columns in DECLARED["comparison"].items()}


def objects(found: Iterable[Comparison]) -> list[dict[str, Any]]:
    """Every candidate by every metric, the metric that leads first."""
    return [_object(comparison, change) for comparison in found for change in comparison.changes]


def _object(comparison: Comparison, change: Change) -> dict[str, Any]:
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
            **{name: row[f"n_{name}"] for name in OF["pairing"]},
            "refused_tasks": [task.values["task_id"] for task in comparison.refused],
        },
        "differs_in": nested(comparison.differing, ("setting",), OF["setting"]),
        **picked(row, OF["levels"]),
        "ci_new_tasks": _interval(row, "ci_new_tasks"),
        "ci_same_tasks": _interval(row, "ci_same_tasks"),
        "p_value": rounded(row["p_mean"]),
        **picked(row, OF["tested"]),
        "mde": {side: rounded(row[f"mde_{side}"]) for side in ("new_tasks", "same_tasks")},
        "bounds": {
            "counted_as_fail": rounded(row["delta_counted_as_fail"]),
            "ci_counted_as_fail": _interval(row, "ci_counted_as_fail"),
            "low": rounded(row["bound_low"]),
            "high": rounded(row["bound_high"]),
            "is_expected_known": row["is_expected_known"],
        },
        **picked(row, OF["decided"]),
        "gains": [picked(task.values, OF["task"]) for task in change.gains],
        "losses": [picked(task.values, OF["task"]) for task in change.losses],
        "transitions": nested(
            comparison.transitions, ("bucket_before", "bucket_after"), OF["transition"]
        ),
        "ledgers": _ledgers(change.ledgers),
        "metrics": nested(comparison.metrics, ("metric",), OF["metric"]),
        "flips": [picked(flip.values, OF["flip"]) for flip in comparison.flips],
    }


def _ledgers(ledgers: Iterable[Ledger]) -> dict[str, Any]:
    """By name; slices by their key too."""
    found: dict[str, Any] = {}
    for ledger in ledgers:
        name = ledger.name.replace(" ", "_")
        if ledger.policy != "dropped":
            name = f"{name}_{ledger.policy}"
        told = {
            **picked(ledger.total.values, OF["ledger"]),
            "lines": [picked(line.values, OF["line"]) for line in ledger.lines],
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
