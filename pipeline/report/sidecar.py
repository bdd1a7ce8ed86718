"""Metrics for a program: flat JSON objects, the same keys in the same order every time."""

from __future__ import annotations

import json
import math
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pipeline.report.comparisons import Change, Comparison, Ledger
from pipeline.report.content import RunContent
from pipeline.report.figures import Row
from pipeline.report.wording import rounded

SCHEMA_VERSION = 1
DECLARED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
RUN, COMPARED = (
    {name: {column: column for column in columns.split()} for name, columns in DECLARED[of].items()}
    for of in ("run", "comparison")
)
LEVELS, UNCERTAINTY, COUNTS = RUN["levels"], RUN["uncertainty"], DECLARED["counts"]


def document(runs: Iterable[str], comparisons: Iterable[str]) -> str:
    """All runs, and all comparisons between them, each as JSON already."""
    return (
        f'{{\n  "schema_version": {SCHEMA_VERSION},\n'
        f'  "runs": [{_listed(runs)}\n  ],\n  "comparisons": [{_listed(comparisons)}\n  ]\n}}\n'
    )


def _listed(objects: Iterable[str]) -> str:
    # A line end inside JSON is never part of a string: indenting the lines indents the object.
    return ",".join("\n    " + written.rstrip("\n").replace("\n", "\n    ") for written in objects)


def run_object(run: RunContent) -> dict[str, Any]:
    """One run's figures, the headline first."""
    headline = run.headline.values
    return {
        **_picked(headline, DECLARED["first"]),
        **_picked(headline, LEVELS),
        **_picked(headline, COUNTS),
        **_picked(headline, UNCERTAINTY),
        **_picked(headline, RUN["standing"]),
        **_picked(headline, DECLARED["informative"]),
        **{name: _by_k(run.curves, name) for name in RUN["curves"]},
        "tasks_at": _by_k(run.curves, "n_tasks"),
        "denominators": _nested(run.policies, ("policy",), RUN["policy"]),
        "funnel": [_picked(stage.values, RUN["funnel"]) for stage in run.funnels],
        "slices": _nested(run.slices, ("slice_key", "slice_value"), RUN["slice"]),
        "resources": _nested(run.resources, ("measure", "outcome"), RUN["resource"]),
        "reward_components": _nested(run.components, ("component",), RUN["component"]),
        **_failures(run),
        **_picked(headline, DECLARED["also_called"]),
    }


def _failures(run: RunContent) -> dict[str, Any]:
    """How the run fails: the mode that is primary most often, how many share none, all modes."""
    listed = [row.values for row in run.modes if row.values["is_told"]]
    n_unshared = sum(row.values["n_primary"] for row in run.modes if not row.values["is_told"])
    n_failures = sum(row.values["n_primary"] for row in run.modes)
    dominant = max(listed, key=lambda values: values["n_primary"], default={})
    is_settled = not run.headline.is_unsettled
    causes = Counter(row.values["cause"] for row in run.labelled)
    return {
        "failures": n_failures if is_settled else None,
        "dominant_failure_type": dominant.get("mode"),
        "dominant_failure_count": dominant.get("n_primary"),
        "dominant_failure_fraction": rounded(dominant.get("share_primary")),
        "failures_without_shared_sign": n_unshared if is_settled else None,
        "failure_modes": {values["mode"]: _picked(values, RUN["mode"]) for values in listed},
        "labelled_causes": dict(sorted(causes.items())),
    }


def comparison_objects(found: Iterable[Comparison]) -> list[dict[str, Any]]:
    """One flat object per candidate and metric, the metric that leads first."""
    return [_object(comparison, change) for comparison in found for change in comparison.changes]


def _object(comparison: Comparison, change: Change) -> dict[str, Any]:
    """What changed from a base to a candidate by one metric."""
    row = change.row.values
    return {
        **_picked(row, COMPARED["first"]),
        "pairing": {
            **{name: row[f"n_{name}"] for name in COMPARED["pairing"]},
            "refused_tasks": [task.values["task_id"] for task in comparison.refused],
        },
        "differs_in": _nested(comparison.differing, ("setting",), COMPARED["setting"]),
        **_picked(row, COMPARED["levels"]),
        **{name: _interval(row, name) for name in ("ci_new_tasks", "ci_same_tasks")},
        "p_value": rounded(row["p_mean"]),
        **_picked(row, COMPARED["tested"]),
        "mde": {side: rounded(row[f"mde_{side}"]) for side in ("new_tasks", "same_tasks")},
        "bounds": {
            "counted_as_fail": rounded(row["delta_counted_as_fail"]),
            "ci_counted_as_fail": _interval(row, "ci_counted_as_fail"),
            "low": rounded(row["bound_low"]),
            "high": rounded(row["bound_high"]),
            "with_unseen": _interval(row, "unseen"),
            "is_expected_known": row["is_expected_known"],
        },
        **_picked(row, COMPARED["decided"]),
        "gains": [_picked(task.values, COMPARED["task"]) for task in change.gains],
        "losses": [_picked(task.values, COMPARED["task"]) for task in change.losses],
        "transitions": _nested(
            comparison.transitions, ("bucket_before", "bucket_after"), COMPARED["transition"]
        ),
        "ledgers": _ledgers(change.ledgers),
        "metrics": _nested(comparison.metrics, ("metric",), COMPARED["metric"]),
        "flips": [_picked(flip.values, COMPARED["flip"]) for flip in comparison.flips],
    }


def _ledgers(ledgers: Iterable[Ledger]) -> dict[str, Any]:
    """By name; slices by their key too."""
    found: dict[str, Any] = {}
    for ledger in ledgers:
        name = ledger.name.replace(" ", "_")
        if ledger.policy != "dropped":
            name = f"{name}_{ledger.policy}"
        told = {
            **_picked(ledger.total.values, COMPARED["ledger"]),
            "lines": [_picked(line.values, COMPARED["line"]) for line in ledger.lines],
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


def text(content: Any) -> str:
    """JSON for people and programs: indented, no NaN, a line end at the end."""
    return json.dumps(content, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def line(content: Any) -> str:
    """The same on one line."""
    return json.dumps(content, ensure_ascii=True, allow_nan=False)


def _by_k(curve: Iterable[Row], name: str) -> dict[str, Any]:
    return {str(point.values["k"]): rounded(point.values[name]) for point in curve}


def _picked(values: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Some of a row's values, rounded, under the names that are declared for their columns."""
    return {name: rounded(values[column]) for name, column in names.items()}


def _nested(rows: Iterable[Row], keys: tuple[str, ...], names: Mapping[str, str]) -> dict[str, Any]:
    """Rows as objects inside objects, one level a key."""
    found: dict[str, Any] = {}
    for row in rows:
        place = found
        for key in keys[:-1]:
            place = place.setdefault(row.values[key], {})
        place[str(row.values[keys[-1]])] = _picked(row.values, names)
    return found
