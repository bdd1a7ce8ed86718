"""Metrics for a program: flat JSON objects, the same keys in the same order every time."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from .comparisons import Change, Comparison, Ledger
from .content import RunContent
from .declared import TABLES
from .figures import Row
from .wording import rounded

SCHEMA_VERSION = 1
# What a run's or a comparison's rows have in common.
SUBJECT = ("run_id", "base", "candidate")
HEADLINES, COMPARISONS = TABLES["headlines"], TABLES["comparisons"]
# The name in metrics.json that each column of run_metrics has.
KEYS = {column: HEADLINES.called.get(column, column) for column in HEADLINES.sidecar[""]}


def document(runs: Iterable[str], comparisons: Iterable[str]) -> str:
    """All runs, and all comparisons between them, each as JSON already."""
    return (
        f'{{\n  "schema_version": {SCHEMA_VERSION},\n'
        f'  "runs": [{_indented(runs)}\n  ],\n  "comparisons": [{_indented(comparisons)}\n  ]\n}}\n'
    )


def _indented(objects: Iterable[str]) -> str:
    # A line end inside JSON is never part of a string: indenting the lines indents the object.
    return ",".join("\n    " + written.rstrip("\n").replace("\n", "\n    ") for written in objects)


def run_object(run: RunContent) -> dict[str, Any]:
    """One run's figures, the headline first."""
    headline = run.headline.values
    return {
        **{name: rounded(headline[column]) for column, name in KEYS.items()},
        **{name: _by_k(run.curves, name) for name in TABLES["curves"].sidecar[""]},
        "tasks_at": _by_k(run.curves, "n_tasks"),
        "denominators": _nested("policies", run.policies),
        "funnel": _listed("funnels", run.funnels),
        "slices": _nested("slices", run.slices),
        "resources": _nested("resources", run.resources),
        "reward_components": _nested("components", run.components),
        **_failures(run),
        **{name: headline[column] for column, name in HEADLINES.also_called.items()},
    }


def _failures(run: RunContent) -> dict[str, Any]:
    """How the run fails: the mode that is primary most often, how many share none, all modes."""
    shared = [row for row in run.modes if row.values["is_told"]]
    n_unshared = sum(row.values["n_primary"] for row in run.modes if not row.values["is_told"])
    n_failures = sum(row.values["n_primary"] for row in run.modes)
    modes = (row.values for row in shared)
    dominant = max(modes, key=lambda values: values["n_primary"], default={})
    is_settled = not run.headline.is_unsettled
    causes = Counter(row.values["cause"] for row in run.labelled)
    return {
        "failures": n_failures if is_settled else None,
        "dominant_failure_type": dominant.get("mode"),
        "dominant_failure_count": dominant.get("n_primary"),
        "dominant_failure_fraction": rounded(dominant.get("share_primary")),
        "failures_without_shared_sign": n_unshared if is_settled else None,
        "failure_modes": _nested("modes", shared),
        "labelled_causes": dict(sorted(causes.items())),
    }


def comparison_objects(comparisons: Iterable[Comparison]) -> list[dict[str, Any]]:
    """One flat object per candidate and metric, the metric that leads first."""
    return [_object(pair, change) for pair in comparisons for change in pair.changes]


def _object(comparison: Comparison, change: Change) -> dict[str, Any]:
    row = change.row.values
    return {
        **_picked("comparisons", row, "first"),
        "pairing": {
            **{name.removeprefix("n_"): row[name] for name in COMPARISONS.sidecar["pairing"]},
            "refused_tasks": [task.values["task_id"] for task in comparison.refused],
        },
        "differs_in": _nested("comparison_settings", comparison.differing),
        **_picked("comparisons", row, "levels"),
        **{name: _interval(row, name) for name in ("ci_new_tasks", "ci_same_tasks")},
        "p_value": rounded(row["p_mean"]),
        **_picked("comparisons", row, "tested"),
        "mde": {side: rounded(row[f"mde_{side}"]) for side in ("new_tasks", "same_tasks")},
        "bounds": {
            "counted_as_fail": rounded(row["delta_counted_as_fail"]),
            "ci_counted_as_fail": _interval(row, "ci_counted_as_fail"),
            "low": rounded(row["bound_low"]),
            "high": rounded(row["bound_high"]),
            "with_unseen": _interval(row, "unseen"),
            "is_expected_known": row["is_expected_known"],
        },
        **_picked("comparisons", row, "decided"),
        "gains": _listed("changed_tasks", change.gains),
        "losses": _listed("changed_tasks", change.losses),
        "transitions": _nested("transitions", comparison.transitions),
        "ledgers": _ledgers(change.ledgers),
        "metrics": _nested("comparison_metrics", comparison.metrics),
        "flips": _listed("flips", comparison.flips),
    }


def _ledgers(ledgers: Iterable[Ledger]) -> dict[str, Any]:
    """By name; slices by their key too."""
    by_name: dict[str, Any] = {}
    for ledger in ledgers:
        name = ledger.name.replace(" ", "_")
        if ledger.policy != "dropped":
            name = f"{name}_{ledger.policy}"
        content = {
            **_picked("ledgers", ledger.total.values, "total"),
            "lines": _listed("ledgers", ledger.lines, "line"),
        }
        if ledger.slice_key:
            by_name.setdefault(name, {})[ledger.slice_key] = content
        else:
            by_name[name] = content
    return by_name


def _interval(row: Any, name: str) -> list[float] | None:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    is_defined = low is not None and math.isfinite(low) and math.isfinite(high)
    return [rounded(low), rounded(high)] if is_defined else None


def text(content: Any) -> str:
    """JSON for people and programs: indented, no NaN, a line end at the end."""
    return json.dumps(content, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def line(content: Any) -> str:
    """The same on one line."""
    return json.dumps(content, ensure_ascii=True, allow_nan=False)


def _by_k(curve: Iterable[Row], name: str) -> dict[str, Any]:
    return {str(point.values["k"]): rounded(point.values[name]) for point in curve}


def _picked(table: str, values: Mapping[str, Any], group: str = "") -> dict[str, Any]:
    """The values of a row of a table that metrics.json has, rounded."""
    return {name: rounded(values[name]) for name in TABLES[table].sidecar[group]}


def _listed(table: str, rows: Iterable[Row], group: str = "") -> list[dict[str, Any]]:
    return [_picked(table, row.values, group) for row in rows]


def _nested(table: str, rows: Iterable[Row]) -> dict[str, Any]:
    """Rows as objects inside objects, by the columns of their key that are not of their subject."""
    *outer, last = (name for name in TABLES[table].key if name not in SUBJECT)
    tree: dict[str, Any] = {}
    for row in rows:
        place = tree
        for key in outer:
            place = place.setdefault(row.values[key], {})
        place[str(row.values[last])] = _picked(table, row.values)
    return tree
