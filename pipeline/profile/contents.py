"""A profile's document -> a Profile; whatever it holds beyond the contract is refused."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Any

from pipeline.errors import UsageError
from pipeline.profile import paths
from pipeline.profile.contract import CONTRACT
from pipeline.profile.failure_modes import failure_modes
from pipeline.profile.values import BUILT_IN_STAGES, FIXED_STAGES, Profile, Stage
from pipeline.toml import Entry, Reader, integer, number, read_source, shown, table, tables, text

MOST_TASKS = 10_000_000
MOST_REPEATS = 100_000
MOST_EXPECTED = 10_000_000


def read(path: Path, *, name: str | None = None) -> Profile:
    """The profile in a file; `name` is what messages call it, by default the path."""
    source = read_source(path, str(path) if name is None else name, CONTRACT)
    attributes = table(Entry(source, (), source.document), TOP)
    lines = {".".join(map(str, key)): line for key, line in source.lines.items()}
    return Profile(name=source.name, lines=MappingProxyType(lines), **attributes)


def _benchmark(entry: Entry) -> dict[str, Any]:
    return {"benchmark": text(entry, "a name", example='benchmark = "office_desk"')}


def _baseline(entry: Entry) -> dict[str, Any]:
    """One run's name, or a list of them, one a benchmark."""
    example = 'baseline = "office_desk_aster-8b"'
    names = entry.value if isinstance(entry.value, list) else [entry.value]
    read = [
        text(Entry(entry.source, entry.key, name), "a run's name", example=example)
        for name in names
    ]
    return {"baselines": tuple(dict.fromkeys(read))}


def _pass_threshold(entry: Entry) -> dict[str, Any]:
    return {"pass_threshold": number(entry, "a number", example="pass_threshold = 0.5")}


def _path(entry: Entry, *, example: str) -> str:
    path = text(entry, "a field path", example=example)
    try:
        paths.names(path)
    except UsageError as error:
        told = f"{entry.label} is {shown(path)}, which is not a field path: {error}."
        raise entry.error(told, hint=error.hint) from error
    return path


def _slices(entry: Entry) -> dict[str, Any]:
    example = f'slices = ["category", "{paths.EXAMPLE}"]'
    if not isinstance(entry.value, list):
        raise entry.wrong("a list of field paths", example=example)
    slices: dict[tuple[str, ...], str] = {}
    for value in entry.value:
        path = _path(Entry(entry.source, entry.key, value), example=example)
        if paths.names(path) in slices:
            raise entry.error(f"slices names {shown(path)} twice.", hint="Each counts once.")
        slices[paths.names(path)] = path
    return {"slices": tuple(slices.values())}


def _field(entry: Entry) -> dict[str, Any]:
    name = str(entry.key[-1])
    return {name: _path(entry, example=f'{name} = "{FIELD_EXAMPLES[name]}"')}


def _fields(entry: Entry) -> dict[str, Any]:
    if not isinstance(entry.value, dict):
        raise entry.wrong("a table", example=f'fields.reward = "{FIELD_EXAMPLES["reward"]}"')
    return table(entry, dict.fromkeys(FIELD_EXAMPLES, _field))


def _expected(entry: Entry) -> dict[str, Any]:
    if not isinstance(entry.value, dict):
        raise entry.wrong("a table", example="expected.tasks = 22")
    attributes = table(entry, EXPECTED)
    n_tasks = attributes.get("expected_tasks") or len(attributes.get("expected_task_ids", ()))
    n_rollouts = n_tasks * attributes.get("expected_repeats", 1)
    if n_rollouts > MOST_EXPECTED:
        place = Entry(entry.source, (*entry.key, "repeats"), None)
        raise place.error(
            f"tasks and repeats make {n_rollouts:,} rollouts.",
            hint=f"At most {MOST_EXPECTED:,} can be expected.",
        )
    return attributes


def _tasks(entry: Entry) -> dict[str, Any]:
    example = 'tasks = 22, or tasks = ["task-1", "task-2"]'
    if isinstance(entry.value, list):
        return {"expected_task_ids": _task_ids(entry, example=example)}
    expected = f"a count from 1 to {MOST_TASKS} or a list of task ids"
    return {"expected_tasks": integer(entry, MOST_TASKS, expected, example=example)}


def _task_ids(entry: Entry, *, example: str) -> tuple[str, ...]:
    if not entry.value:
        raise entry.wrong("a count or a list of task ids", example=example)
    ids: dict[str, None] = {}
    for value in entry.value:
        task_id = str(value) if type(value) is int else value
        item = Entry(entry.source, entry.key, task_id)
        given = text(item, "a task id, text or an integer, in the list", example=example)
        if given in ids:
            raise entry.error(
                f"expected.tasks names {shown(given)} twice.", hint="Each is one task."
            )
        ids[given] = None
    return tuple(ids)


def _repeats(entry: Entry) -> dict[str, Any]:
    expected = f"an integer from 1 to {MOST_REPEATS}"
    return {"expected_repeats": integer(entry, MOST_REPEATS, expected, example="repeats = 4")}


def _funnel(entry: Entry) -> dict[str, Any]:
    stages: dict[str, Stage] = {}
    for each in tables(entry, "stage"):
        stage = _stage(each)
        if stage.stage in stages:
            place = Entry(entry.source, (*each.key, "stage"), stage.stage)
            raise place.error(f"funnel has two stages named {shown(stage.stage)}.")
        stages[stage.stage] = stage
    return {"funnel": tuple(stages.values())}


def _stage(entry: Entry) -> Stage:
    table(entry, STAGE)
    if "stage" not in entry.value:
        raise entry.error("this stage of the funnel has no name.", hint='Add: stage = "a name"')
    name, when = entry.value["stage"], entry.value.get("when")
    if name in FIXED_STAGES:
        raise entry.error(
            f"funnel stage {shown(name)} has its place already.",
            hint=f"These are always there: {', '.join(FIXED_STAGES)}. Leave it out.",
        )
    place = Entry(entry.source, (*entry.key, "stage" if when is None else "when"), when)
    if when is None and name not in BUILT_IN_STAGES:
        raise place.error(
            f"funnel stage {shown(name)} has no predicate.",
            hint=f'Add: when = "n_tool_calls > 0". Built in are: {", ".join(BUILT_IN_STAGES)}.',
        )
    return Stage(name, when, place.line)


def _stage_name(entry: Entry) -> dict[str, Any]:
    return {"stage": text(entry, "a name", example='stage = "called a tool"')}


def _when(entry: Entry) -> dict[str, Any]:
    return {"when": text(entry, "a SQL predicate", example='when = "n_tool_calls > 0"')}


def _failure_modes(entry: Entry) -> dict[str, Any]:
    return {"failure_modes": failure_modes(entry)}


FIELD_EXAMPLES = {
    "task_id": "verifier_metadata.instance_id",
    "reward": "metrics.score",
    "answer": "extracted_answer",
    "group": "verifier_metadata.repo",
}
EXPECTED: dict[str, Reader] = {"tasks": _tasks, "repeats": _repeats}
STAGE: dict[str, Reader] = {"stage": _stage_name, "when": _when}
TOP: dict[str, Reader] = {
    "benchmark": _benchmark,
    "baseline": _baseline,
    "pass_threshold": _pass_threshold,
    "slices": _slices,
    "fields": _fields,
    "expected": _expected,
    "funnel": _funnel,
    "failure_mode": _failure_modes,
}
