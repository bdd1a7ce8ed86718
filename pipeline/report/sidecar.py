"""The metrics sidecar: one flat JSON object a run, the same keys in the same order every time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pipeline.report.content import RunContent
from pipeline.report.figures import Row
from pipeline.report.wording import rounded

SCHEMA_VERSION = 1


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
        "model_name": headline["model"],
        "benchmark": headline["benchmark"],
        "pass_at_1": rounded(headline["pass_at_1"]),
        "pass_at_k": rounded(headline["pass_at_k"]),
        "k": headline["k"],
        "total_tasks": headline["n_tasks"],
        "total_rollouts": headline["n_rollouts"],
        "run_id": headline["run_id"],
        **picked(headline, LEVELS),
        **{name: headline[column] for name, column in COUNTS.items()},
        **picked(headline, UNCERTAINTY),
        **picked(headline, STANDING),
        **{name: headline[column] for name, column in TELLING.items()},
        **{name: _by_k(run.curves, name) for name in CURVES},
        "tasks_at": _by_k(run.curves, "n_tasks"),
        "denominators": _nested(run.policies, ("policy",), POLICY),
        "funnel": [picked(stage.values, FUNNEL) for stage in run.funnels],
        "slices": _nested(run.slices, ("slice_key", "slice_value"), SLICE),
        "resources": _nested(run.resources, ("measure", "outcome"), RESOURCE),
        "reward_components": _nested(run.components, ("component",), COMPONENT),
        **_failures(run),
        **{name: headline[column] for name, column in ALSO_CALLED.items()},
    }


def _failures(run: RunContent) -> dict[str, Any]:
    """How the run fails: the dominant mode, what is unexplained, and all modes and causes."""
    by_mode = {row.mode: row.values for row in run.modes}
    unexplained = by_mode.pop("UNEXPLAINED", {})
    dominant = next(iter(by_mode.values()), {})
    n_failures = sum(row.values["n_rollouts"] for row in run.modes)
    n_unexplained = unexplained.get("n_rollouts", 0)
    is_settled = not run.headline.is_unsettled
    return {
        "failures": n_failures if is_settled else None,
        "dominant_failure_type": dominant.get("mode"),
        "dominant_failure_count": dominant.get("n_rollouts"),
        "dominant_failure_fraction": rounded(dominant.get("share_of_failures")),
        "unexplained_failures": n_unexplained if is_settled else None,
        "unexplained_fraction": rounded(n_unexplained / n_failures) if n_failures else None,
        "failure_modes": _nested(run.modes, ("mode",), MODE),
        "root_causes": _nested(run.causes, ("cause",), CAUSE),
        "recommendations": _nested(run.recommendations, ("rank",), RECOMMENDATION),
    }


LEVELS = (
    "rollout_pass_rate mean_reward consistency coverage retry_value k_min k_max "
    "pass_threshold".split()
)
COUNTS = {
    "scored_tasks": "n_scored_tasks",
    "expected_rollouts": "n_expected",
    "scored_rollouts": "n_scored",
    "unscored_rollouts": "n_unscored",
    "failed_attempts": "n_failed_attempts",
    "missing_rollouts": "n_missing",
    "unexpected_rollouts": "n_unexpected",
    "passed_rollouts": "n_passed",
    "failed_rollouts": "n_failed",
    "always_pass_tasks": "n_always_tasks",
    "sometimes_pass_tasks": "n_sometimes_tasks",
    "never_pass_tasks": "n_never_tasks",
    "missing_tasks": "n_missing_tasks",
    "inferred_missing_tasks": "n_inferred_missing_tasks",
    "partial_tasks": "n_partial_tasks",
}
# Published sidecars have these names for the same figures.
ALSO_CALLED = {
    "model": "model",
    "num_tasks": "n_tasks",
    "num_rollouts": "n_rollouts",
    "always_fail_tasks": "n_never_tasks",
}
UNCERTAINTY = (
    "pass_at_1_se_new_tasks pass_at_1_ci_new_tasks_low pass_at_1_ci_new_tasks_high "
    "pass_at_1_se_same_tasks pass_at_1_ci_same_tasks_low pass_at_1_ci_same_tasks_high "
    "mean_reward_se_new_tasks mean_reward_ci_new_tasks_low mean_reward_ci_new_tasks_high "
    "within_variance between_variance se_with_twice_the_tasks se_with_twice_the_repeats".split()
)
# What a pass takes, and where the run stands among those of its benchmark.
STANDING = (
    "tokens_per_rollout tokens_per_pass cost_per_rollout cost_per_pass is_on_frontier "
    "n_ranked_tasks rank_low rank_high p_best n_reruns rerun_sd rerun_se".split()
)
TELLING = {"dead_tasks": "n_dead_tasks", "noisy_tasks": "n_noisy_tasks"}
CURVES = "pass_at pass_hat max_at maj_at tokens_at seconds_at".split()
POLICY = (
    "n_tasks n_rollouts n_left_out n_passed pass_at_1 rollout_pass_rate pass_at_1_worst "
    "pass_at_1_best".split()
)
FUNNEL = (
    "stage_no stage n_reached n_lost reach_rate step_rate n_observed n_implied "
    "n_out_of_order".split()
)
SLICE = (
    "n_tasks n_scored_tasks n_rollouts n_scored n_passed pass_at_1 se_new_tasks ci_new_tasks_low "
    "ci_new_tasks_high mean_reward n_always n_sometimes n_never n_missing".split()
)
RESOURCE = "n_rollouts median mean p90 max".split()
COMPONENT = (
    "n_tasks n_rollouts mean_value min_value max_value mean_when_passed mean_when_failed".split()
)
MODE = "default_cause n_rollouts n_tasks share_of_failures".split()
CAUSE = "n_tasks n_curated n_strong n_moderate n_weak".split()
RECOMMENDATION = (
    "kind topic subject n_rollouts n_total n_tasks share risk_difference risk_low risk_high".split()
)


def text(content: Any) -> str:
    """JSON for people and programs: indented, no NaN, a line end at the end."""
    return json.dumps(content, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def line(content: Any) -> str:
    """The same on one line."""
    return json.dumps(content, ensure_ascii=True, allow_nan=False)


def _by_k(curve: Iterable[Row], name: str) -> dict[str, Any]:
    return {str(point.values["k"]): rounded(point.values[name]) for point in curve}


def picked(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Some of a row's values, rounded."""
    return {name: rounded(values[name]) for name in names}


def _nested(rows: Iterable[Row], keys: tuple[str, ...], names: Iterable[str]) -> dict[str, Any]:
    """Rows as objects inside objects, one level a key."""
    found: dict[str, Any] = {}
    for row in rows:
        place = found
        for key in keys[:-1]:
            place = place.setdefault(row.values[key], {})
        place[str(row.values[keys[-1]])] = picked(row.values, names)
    return found
