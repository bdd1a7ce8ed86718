"""Read policy.toml: what a release owner requires of a change."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .. import toml
from ..errors import UsageError, did_you_mean
from ..toml import Contract, Entry, Table, shown

# The metrics of a policy and which direction is better; pass_at_K and pass_hat_K exist for any K.
METRICS = {
    "pass_at_1": "higher",
    "mean_reward": "higher",
    "pass_at_k": "higher",
    "pass_hat_k": "higher",
    "input_tokens": "lower",
    "output_tokens": "lower",
    "n_turns": "lower",
    "n_tool_calls": "lower",
    "n_tool_errors": "lower",
    "duration_s": "lower",
}
PASS_RATE = re.compile(r"pass_(?:at|hat)_(?:k|[1-9][0-9]{0,4})")
# Two points, as without a policy. Metrics in other units have no default.
PASS_RATE_MARGIN = 0.02
CONFIDENCE = 0.95
MOST_TASKS = 10_000_000
# The name of the mean over all benchmarks among those of benchmarks.
SUITE = "suite average"
METRIC_EXAMPLE = 'metric = "pass_at_1"'


@dataclass(frozen=True)
class Criterion:
    """What a policy requires of one metric: `margin` is in its unit, `direction` is better.

    A blocking criterion stops the release; a tracked one only warns.
    """

    metric: str
    rule: str = "non-inferior"
    margin: float = PASS_RATE_MARGIN
    direction: str = "higher"
    level: str = "blocking"

    @property
    def sign(self) -> int:
        """1 if higher is better, else -1."""
        return 1 if self.direction == "higher" else -1

    @property
    def threshold(self) -> float:
        """The change must be above it if higher is better, else below it."""
        slack = self.margin if self.rule == "superior" else -self.margin
        # Adding 0.0 turns -0.0 into 0.0.
        return self.sign * slack + 0.0


@dataclass(frozen=True)
class SuiteCriteria:
    """What a policy requires of a suite: overall, of each benchmark, and of single benchmarks."""

    overall: Criterion
    each: Criterion | None = None
    benchmarks: tuple[Criterion, ...] = ()

    def criteria(self, names: Sequence[str]) -> tuple[Criterion, ...]:
        """The overall one, then those of benchmarks; one that is named is always required."""
        by_name = {} if self.each is None else {n: replace(self.each, metric=n) for n in names}
        by_name |= {own.metric: own for own in self.benchmarks}
        return (self.overall, *(by_name[name] for name in sorted(by_name)))


@dataclass(frozen=True)
class Requirements:
    """Minimum quality of both runs; None requires nothing."""

    min_coverage: float | None = None
    min_clean_rate: float | None = None
    min_common_tasks: int | None = None


@dataclass(frozen=True)
class Waiver:
    """A task whose regression is accepted, and the reason."""

    task_id: str
    reason: str


@dataclass(frozen=True)
class Policy:
    """A policy.toml; `name` is its name in messages and pages.

    `unseen` is the share of tasks that may differ from all tasks of the sample; None: the share
    that a sample of this size can miss at this confidence.
    """

    name: str
    criteria: tuple[Criterion, ...]
    require: Requirements = Requirements()
    waivers: tuple[Waiver, ...] = ()
    confidence: float = CONFIDENCE
    unseen: float | None = None
    suite: SuiteCriteria | None = None


def _metric(entry: Entry, example: str) -> str:
    metric = toml.text(entry, "the name of a metric", example)
    if metric not in METRICS and not PASS_RATE.fullmatch(metric):
        known = sorted(METRICS)
        hint = f"Metrics: {', '.join(known)}, and pass_at_2, pass_hat_2 and so on. "
        hint += did_you_mean(metric, known, cutoff=0.5)
        raise entry.error(f"{shown(metric)} is not a metric.", hint=hint.strip())
    return metric


def _check_metric(entry: Entry, values: dict[str, Any]) -> None:
    """Fill in defaults; a metric that is no rate needs a margin."""
    metric = values["metric"]
    values["rule"] = values["rule"] or "non-inferior"
    values["level"] = values["level"] or "blocking"
    values["direction"] = values["direction"] or METRICS.get(metric, "higher")
    if values["margin"] is None and not PASS_RATE.fullmatch(metric):
        # 0.02 tokens, turns, calls or seconds would be next to nothing.
        example = "margin = 0.02" if metric == "mean_reward" else "margin = 10"
        message = f"{metric} needs a margin, in its unit."
        raise entry.at("metric").error(message, hint=f"Add: {example}")


SHARE = (toml.number, "a number from 0 to 1", 0, 1)
CONTRACT = Contract(
    noun="policy",
    file_name="policy.toml",
    keys={
        "margin": (toml.number, "a number from 0 to 1", 0, 1, "margin = 0.02"),
        "confidence": (
            toml.number,
            "a number from 0.5 to 0.9999",
            0.5,
            0.9999,
            "confidence = 0.95",
        ),
        "unseen": (toml.number, "a number from 0 to 1", 0, 1, "unseen = 0"),
        "metric.metric": (_metric, METRIC_EXAMPLE),
        "metric.rule": (toml.choice, "non-inferior", "superior"),
        "metric.margin": (toml.number, "a number from 0 on", 0, math.inf, "margin = 0.02"),
        "metric.direction": (toml.choice, "higher", "lower"),
        "metric.level": (toml.choice, "blocking", "tracked"),
        "suite.rule": (toml.choice, "non-inferior", "superior"),
        "suite.margin": (*SHARE, "margin = 0.02"),
        "suite.level": (toml.choice, "blocking", "tracked"),
        "suite.benchmark_margin": (*SHARE, "benchmark_margin = 0.05"),
        "benchmark.benchmark": (toml.text, "a benchmark", 'benchmark = "airline"'),
        "benchmark.rule": (toml.choice, "non-inferior", "superior"),
        "benchmark.margin": (*SHARE, "margin = 0.05"),
        "benchmark.level": (toml.choice, "blocking", "tracked"),
        "require.min_coverage": (*SHARE, "min_coverage = 0.95"),
        "require.min_clean_rate": (*SHARE, "min_clean_rate = 0.9"),
        "require.min_common_tasks": (toml.integer, MOST_TASKS, "min_common_tasks = 20"),
        "waive.task_id": (toml.name, "a task id, text or an integer", 'task_id = "12"'),
        "waive.reason": (
            toml.text,
            "why this task may fail",
            'reason = "the answer key is wrong"',
        ),
    },
    tables={
        "metric": Table(
            each="metric",
            called="this [[metric]]",
            required=("metric",),
            check=_check_metric,
            once=(("metric", "rule"), "{} has two rules that are {}.", "Leave one out."),
        ),
        "suite": Table(example="suite.margin = 0.02"),
        "benchmark": Table(
            each="benchmark",
            called="this [[benchmark]]",
            required=("benchmark",),
            once=(("benchmark",), '"{}" has two rules.', "Leave one out."),
        ),
        "require": Table(example="require.min_coverage = 0.95"),
        "waive": Table(
            each="waived task",
            called="this [[waive]]",
            required=("task_id", "reason"),
            once=(("task_id",), 'task "{}" is waived twice.', "Leave one out."),
        ),
    },
)


def read(path: Path, *, name: str | None = None) -> Policy:
    """The policy in a file; `name` is what messages call it, by default the path."""
    name = str(path) if name is None else name
    values = toml.read(path, name, CONTRACT)
    suite = _suite(values)
    if not values["metric"] and suite is None:
        hint = f"Add: [[metric]], and below it {METRIC_EXAMPLE}"
        raise UsageError(f"{name}: metric: a policy without a metric decides nothing.", hint=hint)
    margin = PASS_RATE_MARGIN if values["margin"] is None else values["margin"]
    for metric in values["metric"]:
        metric["margin"] = margin if metric["margin"] is None else metric["margin"]
    return Policy(
        name=name,
        criteria=tuple(Criterion(**metric) for metric in values["metric"]),
        require=Requirements(**values["require"]),
        waivers=tuple(Waiver(**waived) for waived in values["waive"]),
        confidence=values["confidence"] or CONFIDENCE,
        unseen=values["unseen"],
        suite=suite,
    )


def _suite(values: dict[str, Any]) -> SuiteCriteria | None:
    """The criteria of a suite; None if the policy has none."""
    own = {key: value for key, value in values["suite"].items() if value is not None}
    if not own and not values["benchmark"]:
        return None
    each_margin = own.pop("benchmark_margin", None)
    usual = PASS_RATE_MARGIN if values["margin"] is None else values["margin"]
    named = []
    for entry in values["benchmark"]:
        chosen = {key: value for key, value in entry.items() if value is not None}
        name = chosen.pop("benchmark")
        named.append(Criterion(name, **{"margin": usual, **chosen}))
    return SuiteCriteria(
        overall=Criterion(SUITE, **{"margin": usual, **own}),
        each=None if each_margin is None else Criterion("", margin=each_margin),
        benchmarks=tuple(named),
    )
