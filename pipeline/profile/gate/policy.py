"""policy.toml -> a Policy; whatever it holds beyond the contract is refused."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Any

from pipeline.profile.gate.values import Criterion, Policy, Requirements, Waiver
from pipeline.toml import (
    Contract,
    Entry,
    Reader,
    choice,
    integer,
    number,
    read_source,
    shown,
    table,
    tables,
    text,
)

CONTRACT = Contract(
    noun="policy",
    file_name="policy.toml",
    keys={
        "": frozenset({"metric", "require", "waive"}),
        "metric": frozenset({"metric", "rule", "margin", "direction", "level"}),
        "require": frozenset({"min_coverage", "min_clean_rate", "min_common_tasks"}),
        "waive": frozenset({"task_id", "reason"}),
    },
    repeated=frozenset({"metric", "waive"}),
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


def read(path: Path, *, name: str | None = None) -> Policy:
    """The policy in a file; `name` is what messages call it, by default the path."""
    source = read_source(path, str(path) if name is None else name, CONTRACT)
    top = Entry(source, (), source.document)
    attributes = table(top, TOP)
    if not attributes.get("criteria"):
        place = Entry(source, ("metric",), None)
        hint = f"Add: [[metric]], and below it {METRIC_EXAMPLE}"
        raise place.error("a policy without a metric decides nothing.", hint=hint)
    return Policy(name=source.name, **attributes)


def _criteria(entry: Entry) -> dict[str, Any]:
    found: dict[tuple[str, str], Criterion] = {}
    for each in tables(entry, "metric"):
        criterion = _criterion(each)
        key = (criterion.metric, criterion.rule)
        if key in found:
            told = f"{criterion.metric} has two rules that are {criterion.rule}."
            raise _inner(each, "metric").error(told, hint="Leave one out.")
        found[key] = criterion
    return {"criteria": tuple(found.values())}


def _criterion(entry: Entry) -> Criterion:
    given = table(entry, CRITERION)
    _need(entry, given, {"metric": METRIC_EXAMPLE})
    metric = given["metric"]
    if "margin" not in given and not PASS_RATE.fullmatch(metric):
        told = f"{metric} has no margin: how much is little depends on its unit."
        raise _inner(entry, "metric").error(told, hint=f"Add: {_margin_example(metric)}")
    defaults = {"margin": PASS_RATE_MARGIN, "direction": METRICS.get(metric, "higher")}
    return Criterion(**{**defaults, **given})


def _metric(entry: Entry) -> dict[str, Any]:
    name = text(entry, "the name of a metric", example=METRIC_EXAMPLE)
    if name not in METRICS and not PASS_RATE.fullmatch(name):
        known = sorted(METRICS)
        close = difflib.get_close_matches(name[:40], known, n=1, cutoff=0.5)
        hint = f"Metrics: {', '.join(known)}, and pass_at_2, pass_hat_2 and so on."
        meant = f" Did you mean {close[0]}?" if close else ""
        raise entry.error(f"{shown(name)} is not a metric.", hint=f"{hint}{meant}")
    return {"metric": name}


def _margin(entry: Entry) -> dict[str, Any]:
    example = "margin = 0.02"
    value = number(entry, "a number from 0 on", example=example)
    if value < 0:
        raise entry.wrong("a number from 0 on", example=example)
    return {"margin": value}


def _margin_example(metric: str) -> str:
    # In tokens, turns, calls or seconds a share would be next to nothing.
    return "margin = 0.02" if metric == "mean_reward" else "margin = 10"


def _require(entry: Entry) -> dict[str, Any]:
    if not isinstance(entry.value, dict):
        raise entry.wrong("a table", example="require.min_coverage = 0.95")
    return {"require": Requirements(**table(entry, REQUIRE))}


def _rate(entry: Entry) -> dict[str, Any]:
    name = str(entry.key[-1])
    expected, example = "a number from 0 to 1", f"{name} = {RATE_EXAMPLES[name]}"
    value = number(entry, expected, example=example)
    if not 0 <= value <= 1:
        raise entry.wrong(expected, example=example)
    return {name: value}


def _common_tasks(entry: Entry) -> dict[str, Any]:
    expected = f"an integer from 1 to {MOST_TASKS}"
    least = integer(entry, MOST_TASKS, expected, example="min_common_tasks = 20")
    return {"min_common_tasks": least}


def _waivers(entry: Entry) -> dict[str, Any]:
    found: dict[str, Waiver] = {}
    for each in tables(entry, "waived task"):
        waiver = _waiver(each)
        if waiver.task_id in found:
            told = f"task {shown(waiver.task_id)} is waived twice."
            raise _inner(each, "task_id").error(told, hint="Leave one out.")
        found[waiver.task_id] = waiver
    return {"waivers": tuple(found.values())}


def _waiver(entry: Entry) -> Waiver:
    given = table(entry, WAIVE)
    _need(entry, given, {"task_id": TASK_EXAMPLE, "reason": REASON_EXAMPLE})
    return Waiver(**given)


def _task_id(entry: Entry) -> dict[str, Any]:
    value = str(entry.value) if type(entry.value) is int else entry.value
    item = Entry(entry.source, entry.key, value)
    return {"task_id": text(item, "a task id, text or an integer", example=TASK_EXAMPLE)}


def _reason(entry: Entry) -> dict[str, Any]:
    return {"reason": text(entry, "why this task may fail", example=REASON_EXAMPLE)}


def _need(entry: Entry, given: dict[str, Any], examples: dict[str, str]) -> None:
    for name, example in examples.items():
        if name not in given:
            raise entry.error(f"this [[{entry.label}]] has no {name}.", hint=f"Add: {example}")


def _inner(entry: Entry, name: str) -> Entry:
    return Entry(entry.source, (*entry.key, name), entry.value[name])


RATE_EXAMPLES = {"min_coverage": 0.95, "min_clean_rate": 0.9}
CRITERION: dict[str, Reader] = {
    "metric": _metric,
    "rule": lambda entry: {"rule": choice(entry, RULES)},
    "margin": _margin,
    "direction": lambda entry: {"direction": choice(entry, DIRECTIONS)},
    "level": lambda entry: {"level": choice(entry, LEVELS)},
}
REQUIRE: dict[str, Reader] = {
    "min_coverage": _rate,
    "min_clean_rate": _rate,
    "min_common_tasks": _common_tasks,
}
WAIVE: dict[str, Reader] = {"task_id": _task_id, "reason": _reason}
TOP: dict[str, Reader] = {"metric": _criteria, "require": _require, "waive": _waivers}
