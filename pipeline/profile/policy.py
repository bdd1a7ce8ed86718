"""policy.toml -> a Policy: what a release owner asks of a change before it may go out."""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass
from pathlib import Path

from pipeline import toml
from pipeline.errors import UsageError
from pipeline.toml import Contract, Entry, Table, shown

CONTRACT = Contract(
    noun="policy",
    file_name="policy.toml",
    tables={
        "": Table("metric require waive"),
        "metric": Table("metric rule margin direction level", each="metric"),
        "require": Table(
            "min_coverage min_clean_rate min_common_tasks", example="require.min_coverage = 0.95"
        ),
        "waive": Table("task_id reason", each="waived task"),
    },
)
RULES = ("non-inferior", "superior")
LEVELS = ("blocking", "tracked")
DIRECTIONS = ("higher", "lower")
# What a policy may ask of, with the better way; those of K repeats come for every K as well.
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
# Two points, as where no policy is given. Other units say nothing of what is small.
PASS_RATE_MARGIN = 0.02
MOST_TASKS = 10_000_000
METRIC_EXAMPLE = 'metric = "pass_at_1"'
TASK_EXAMPLE = 'task_id = "12"'
REASON_EXAMPLE = 'reason = "the answer key is wrong"'


@dataclass(frozen=True)
class Criterion:
    """What a policy asks of one metric: `margin` is in its unit, `direction` the better way."""

    metric: str
    rule: str = "non-inferior"
    margin: float = PASS_RATE_MARGIN
    direction: str = "higher"
    level: str = "blocking"

    @property
    def is_blocking(self) -> bool:
        """Does the release wait for it? A tracked one only warns."""
        return self.level == "blocking"

    @property
    def sign(self) -> int:
        """1 where more is better, -1 where less is."""
        return 1 if self.direction == "higher" else -1

    @property
    def threshold(self) -> float:
        """The change that must be beyond: above it where more is better, below it where less is."""
        slack = self.margin if self.rule == "superior" else -self.margin
        # A margin of zero leaves no minus sign behind.
        return self.sign * slack + 0.0


@dataclass(frozen=True)
class Requirements:
    """What must be known of both runs before a change counts; None asks nothing."""

    min_coverage: float | None = None
    min_clean_rate: float | None = None
    min_common_tasks: int | None = None


@dataclass(frozen=True)
class Waiver:
    """A task whose regression is known, and why it may be."""

    task_id: str
    reason: str


@dataclass(frozen=True)
class Policy:
    """A policy.toml; `name` is what messages and pages call it."""

    name: str
    criteria: tuple[Criterion, ...]
    require: Requirements = Requirements()
    waivers: tuple[Waiver, ...] = ()


def read(path: Path, *, name: str | None = None) -> Policy:
    """The policy in a file; `name` is what messages call it, by default the path."""
    top = toml.read(path, str(path) if name is None else name, CONTRACT)
    metrics, require = top.at("metric"), top.at("require")
    if not metrics.value:
        hint = f"Add: [[metric]], and below it {METRIC_EXAMPLE}"
        raise metrics.error("a policy without a metric decides nothing.", hint=hint)
    least = require.at("min_common_tasks").integer(
        MOST_TASKS, f"an integer from 1 to {MOST_TASKS}", example="min_common_tasks = 20"
    )
    return Policy(
        name=top.file,
        criteria=_criteria(metrics),
        require=Requirements(
            min_coverage=_from_zero(
                require.at("min_coverage"), most=1, example="min_coverage = 0.95"
            ),
            min_clean_rate=_from_zero(
                require.at("min_clean_rate"), most=1, example="min_clean_rate = 0.9"
            ),
            min_common_tasks=least,
        ),
        waivers=_waivers(top.at("waive")),
    )


def _criteria(entry: Entry) -> tuple[Criterion, ...]:
    found = [_criterion(each) for each in entry.items()]
    twice = toml.first_repeated((criterion.metric, criterion.rule) for criterion in found)
    if twice is not None:
        message = f"{found[twice].metric} has two rules that are {found[twice].rule}."
        raise entry.item(twice).at("metric").error(message, hint="Leave one out.")
    return tuple(found)


def _criterion(entry: Entry) -> Criterion:
    given = entry.at("metric")
    metric = given.text("the name of a metric", example=METRIC_EXAMPLE)
    if metric is None:
        raise _missing(entry, METRIC_EXAMPLE)
    if metric not in METRICS and not PASS_RATE.fullmatch(metric):
        known = sorted(METRICS)
        close = difflib.get_close_matches(metric[:40], known, n=1, cutoff=0.5)
        hint = f"Metrics: {', '.join(known)}, and pass_at_2, pass_hat_2 and so on."
        meant = f" Did you mean {close[0]}?" if close else ""
        raise given.error(f"{shown(metric)} is not a metric.", hint=f"{hint}{meant}")
    margin = _from_zero(entry.at("margin"), example="margin = 0.02")
    if margin is None and not PASS_RATE.fullmatch(metric):
        # In tokens, turns, calls or seconds a share would be next to nothing.
        example = "margin = 0.02" if metric == "mean_reward" else "margin = 10"
        message = f"{metric} has no margin: how much is little depends on its unit."
        raise given.error(message, hint=f"Add: {example}")
    return Criterion(
        metric=metric,
        rule=entry.at("rule").choice(RULES) or "non-inferior",
        margin=PASS_RATE_MARGIN if margin is None else margin,
        direction=entry.at("direction").choice(DIRECTIONS) or METRICS.get(metric, "higher"),
        level=entry.at("level").choice(LEVELS) or "blocking",
    )


def _from_zero(entry: Entry, *, most: float = math.inf, example: str) -> float | None:
    expected = "a number from 0 on" if most == math.inf else f"a number from 0 to {most}"
    value = entry.number(expected, example=example)
    if value is not None and not 0 <= value <= most:
        raise entry.wrong(expected, example=example)
    return value


def _waivers(entry: Entry) -> tuple[Waiver, ...]:
    found = [_waiver(each) for each in entry.items()]
    twice = toml.first_repeated(waiver.task_id for waiver in found)
    if twice is not None:
        message = f"task {shown(found[twice].task_id)} is waived twice."
        raise entry.item(twice).at("task_id").error(message, hint="Leave one out.")
    return tuple(found)


def _waiver(entry: Entry) -> Waiver:
    task = entry.at("task_id").as_text()
    task_id = task.text("a task id, text or an integer", example=TASK_EXAMPLE)
    reason = entry.at("reason").text("why this task may fail", example=REASON_EXAMPLE)
    if task_id is None:
        raise _missing(entry, TASK_EXAMPLE)
    if reason is None:
        raise _missing(entry, REASON_EXAMPLE)
    return Waiver(task_id, reason)


def _missing(entry: Entry, example: str) -> UsageError:
    name, _, _ = example.partition(" ")
    return entry.error(f"this [[{entry.key[0]}]] has no {name}.", hint=f"Add: {example}")
