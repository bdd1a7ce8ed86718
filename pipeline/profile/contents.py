"""Find and read blade.toml; unknown keys are errors."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

from .. import toml
from ..errors import UsageError
from ..toml import Contract, Entry, Table, shown
from . import fields
from .allowed import EVIDENCE, FEATURE_COLUMNS
from .suite import NO_SUITE, Suite

PROFILE_NAME = "blade.toml"
# Folders of a package that contain its rollouts.
PACKAGED = ("rollouts", "data")
MOST_TASKS = 10_000_000
MOST_REPEATS = 100_000
MOST_EXPECTED = 10_000_000
MOST_PRICE = 1_000_000
# The built-in stages and their predicates.
PREDICATES = {
    "expected": "is_expected",
    "recorded": "is_recorded",
    "produced output": "has_output",
    "attempted the core action": "has_action",
    "completed without truncation": "not is_truncated",
    "scored": "has_grade",
    "received feedback": "has_feedback",
    "graded": "is_graded",
    "passed": "is_pass",
}
BUILT_IN_STAGES = tuple(PREDICATES)
# Every funnel begins and ends with these.
FIRST_STAGES = ("expected", "recorded")
LAST_STAGES = ("graded", "passed")
FIXED_STAGES = (*FIRST_STAGES, *LAST_STAGES)
WHEN_EXAMPLE = 'when = "n_tool_calls > 0"'

# Root causes (the labels of BLADE).
CAUSES = ("KG", "UK", "BI", "TI", "IR", "DA")
UNEXPLAINED = "UNEXPLAINED"
DEFAULT_SEVERITY = 50
WORST = 100
# Names of modes are keys in tables, files and pages.
PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,59}")


@dataclass(frozen=True)
class Stage:
    """A stage of the funnel; a built-in one needs no predicate."""

    stage: str
    when: str | None


@dataclass(frozen=True)
class FailureMode:
    """A failure mode and its predicate; `evidence` is the column to show as evidence."""

    mode: str
    when: str
    cause: str
    severity: int
    evidence: str | None


@dataclass(frozen=True)
class Price:
    """Prices of a million input and output tokens of a model."""

    model: str
    input: float
    output: float


@dataclass(frozen=True)
class Profile:
    """A blade.toml. Field paths are as written, `name` is the file's name in messages.

    `columns` are those of a table of one's own that other formats record in one place.
    """

    name: str = ""
    benchmark: str | None = None
    baselines: tuple[str, ...] = ()
    pass_threshold: float | None = None
    task_id: str | None = None
    reward: str | None = None
    answer: str | None = None
    group: str | None = None
    columns: tuple[tuple[str, str], ...] = ()
    slices: tuple[str, ...] | None = None
    expected_tasks: int | None = None
    expected_task_ids: tuple[str, ...] | None = None
    expected_repeats: int | None = None
    funnel: tuple[Stage, ...] = ()
    failure_modes: tuple[FailureMode, ...] = ()
    prices: tuple[Price, ...] = ()
    suite: Suite = NO_SUITE


def with_fields(profile: Profile, chosen: Mapping[str, str]) -> Profile:
    """The profile with other paths, by their names in `[fields]`."""
    renamed = {fields.SYNONYMS.get(name, name): path for name, path in chosen.items()}
    columns = {name: path for name, path in renamed.items() if name in fields.COLUMNS}
    own: dict[str, Any] = {name: path for name, path in renamed.items() if name in fields.FIELDS}
    merged = tuple(sorted((dict(profile.columns) | columns).items()))
    return replace(profile, columns=merged, **own)


def table_fields(profile: Profile) -> dict[str, str]:
    """The columns of a table of one's own by role, as far as they are chosen."""
    chosen = {role: getattr(profile, name) for role, name in fields.SYNONYMS.items()}
    return {role: path for role, path in chosen.items() if path is not None} | dict(profile.columns)


def find(inputs: list[Path], file_name: str = PROFILE_NAME) -> Path | None:
    """The blade.toml, or the suite.toml, in the folders of the inputs.

    In a package it is next to the folder of rollouts.
    """
    profiles: dict[Path, None] = {}
    for folder in (path if path.is_dir() else path.parent for path in inputs):
        named = folder if folder.name else folder.absolute()
        places = [folder, named.parent] if named.name in PACKAGED else [folder]
        candidates = (place / file_name for place in places)
        # Not Path.is_file, which raises an error for a folder without permission.
        existing = (path for path in candidates if os.path.isfile(path))  # noqa: PTH113
        profiles |= dict.fromkeys(itertools.islice(existing, 1))
    if len(profiles) > 1:
        listing = ", ".join(str(path) for path in profiles)
        option = "--profile" if file_name == PROFILE_NAME else "--suite"
        raise UsageError(f"several {file_name}: {listing}.", hint=f"Choose one with {option}.")
    return next(iter(profiles), None)


def _baselines(entry: Entry, example: str) -> tuple[str, ...]:
    names = entry.items() if isinstance(entry.value, list) else [entry]
    return tuple(dict.fromkeys(toml.text(name, "a run's name", example) for name in names))


def _path(entry: Entry, example: str) -> str:
    path = toml.text(entry, "a field path", example)
    try:
        fields.names(path)
    except UsageError as error:
        why = f"is {shown(path)}, which is not a field path: {error}."
        raise entry.refused(why, hint=error.hint) from error
    return path


def _slices(entry: Entry, example: str) -> tuple[str, ...]:
    if not isinstance(entry.value, list):
        raise entry.wrong("a list of field paths", example=example)
    slices = tuple(_path(item, example) for item in entry.items())
    twice = toml.first_repeated(fields.names(path) for path in slices)
    if twice is not None:
        raise entry.refused(f"names {shown(slices[twice])} twice.", hint="Each counts once.")
    return slices


def _tasks(entry: Entry, example: str) -> int | tuple[str, ...]:
    if not isinstance(entry.value, list):
        expected = "a count from 1 to {} or a list of task ids"
        return toml.integer(entry, MOST_TASKS, example, expected)
    if not entry.value:
        raise entry.wrong("a count or a list of task ids", example=example)
    each = "a task id, text or an integer, in the list"
    ids = tuple(toml.name(item, each, example) for item in entry.items())
    twice = toml.first_repeated(ids)
    if twice is not None:
        raise entry.refused(f"names {shown(ids[twice])} twice.", hint="Each is one task.")
    return ids


def _check_expected(entry: Entry, values: dict[str, Any]) -> None:
    tasks = values["tasks"] or ()
    n_rollouts = (len(tasks) if isinstance(tasks, tuple) else tasks) * (values["repeats"] or 1)
    if n_rollouts > MOST_EXPECTED:
        raise entry.at("repeats").error(
            f"tasks and repeats make {n_rollouts:,} rollouts.",
            hint=f"At most {MOST_EXPECTED:,} can be expected.",
        )


def _check_stage(entry: Entry, values: dict[str, Any]) -> None:
    name = values["stage"]
    if name is None:
        raise entry.error("this stage of the funnel has no name.", hint='Add: stage = "a name"')
    if name in FIXED_STAGES:
        raise entry.error(
            f"funnel stage {shown(name)} is built in.",
            hint=f"These always exist: {', '.join(FIXED_STAGES)}. Remove it.",
        )
    if values["when"] is None and name not in BUILT_IN_STAGES:
        raise entry.at("stage").error(
            f"funnel stage {shown(name)} has no predicate.",
            hint=f"Add: {WHEN_EXAMPLE}. Built in are: {', '.join(BUILT_IN_STAGES)}.",
        )


def _mode(entry: Entry, example: str) -> str:
    name = toml.text(entry, "a name", example)
    if not PLAIN_NAME.fullmatch(name):
        raise entry.wrong("a letter, then up to 59 letters, digits, _ or -", example=example)
    if name.upper() == UNEXPLAINED:
        raise entry.error(
            f"{UNEXPLAINED} is reserved for failures that no rule explains.",
            hint="Choose another name.",
        )
    return name


def _evidence(entry: Entry) -> str:
    if not isinstance(entry.value, str) or entry.value not in EVIDENCE:
        shows = ", ".join(name for name in FEATURE_COLUMNS if name in EVIDENCE)
        why = f"is {shown(entry.value)}, which shows no event and no text."
        raise entry.refused(why, hint=f"Columns that do: {shows}.")
    return entry.value


def _complete_mode(_entry: Entry, values: dict[str, Any]) -> None:
    """Fill in defaults."""
    values["cause"] = values["cause"] or UNEXPLAINED
    values["severity"] = values["severity"] or DEFAULT_SEVERITY


PREDICATE = (toml.text, "a SQL predicate")
PRICE = (toml.number, "the price of a million tokens", 0, MOST_PRICE)
CONTRACT = Contract(
    noun="profile",
    file_name=PROFILE_NAME,
    keys={
        "benchmark": (toml.text, "a name", 'benchmark = "office_desk"'),
        "baseline": (_baselines, 'baseline = "office_desk_aster-8b"'),
        "pass_threshold": (toml.number, "a number", -inf, inf, "pass_threshold = 0.5"),
        "slices": (_slices, f'slices = ["category", "{fields.EXAMPLE}"]'),
        "fields.task": (_path, 'task = "verifier_metadata.instance_id"'),
        "fields.task_id": (_path, 'task_id = "verifier_metadata.instance_id"'),
        "fields.score": (_path, 'score = "metrics.score"'),
        "fields.reward": (_path, 'reward = "metrics.score"'),
        **{f"fields.{name}": (_path, f'{name} = "{name}"') for name in fields.COLUMNS},
        "fields.answer": (_path, 'answer = "extracted_answer"'),
        "fields.group": (_path, 'group = "verifier_metadata.repo"'),
        "expected.tasks": (_tasks, 'tasks = 22, or tasks = ["task-1", "task-2"]'),
        "expected.repeats": (toml.integer, MOST_REPEATS, "repeats = 4"),
        "price.model": (toml.text, "a model's name", 'model = "aster-8b"'),
        "price.input": (*PRICE, "input = 0.15"),
        "price.output": (*PRICE, "output = 0.6"),
        "funnel.stage": (toml.text, "a name", 'stage = "called a tool"'),
        "funnel.when": (*PREDICATE, WHEN_EXAMPLE),
        "failure_mode.mode": (_mode, 'mode = "WRONG_CURRENCY"'),
        "failure_mode.when": (*PREDICATE, 'when = "n_tool_errors > 3"'),
        "failure_mode.cause": (toml.choice, *CAUSES, UNEXPLAINED),
        "failure_mode.severity": (toml.integer, WORST, "severity = 50"),
        "failure_mode.evidence": (_evidence,),
    },
    tables={
        "fields": Table(example='fields.score = "metrics.score"'),
        "expected": Table(example="expected.tasks = 22", check=_check_expected),
        "price": Table(
            each="price",
            called="this price",
            required=("model", "input", "output"),
            once=(("model",), 'price names "{}" twice.', ""),
        ),
        "funnel": Table(
            each="stage",
            check=_check_stage,
            once=(("stage",), 'funnel has two stages named "{}".', ""),
        ),
        "failure_mode": Table(
            each="failure mode",
            called="this failure mode",
            required=("mode", "when"),
            check=_complete_mode,
            once=(("mode",), 'failure_mode names "{}" twice.', ""),
        ),
    },
)


def read(path: Path, *, name: str | None = None) -> Profile:
    """The profile in a file; `name` is what messages call it, by default the path."""
    name = str(path) if name is None else name
    values = toml.read(path, name, CONTRACT)
    tasks = values["expected"]["tasks"]
    is_named = isinstance(tasks, tuple)
    profile = Profile(
        name=name,
        benchmark=values["benchmark"],
        baselines=values["baseline"] or (),
        pass_threshold=values["pass_threshold"],
        slices=values["slices"],
        expected_tasks=None if is_named else tasks,
        expected_task_ids=tasks if is_named else None,
        expected_repeats=values["expected"]["repeats"],
        funnel=tuple(Stage(**stage) for stage in values["funnel"]),
        failure_modes=tuple(FailureMode(**mode) for mode in values["failure_mode"]),
        prices=tuple(Price(**price) for price in values["price"]),
    )
    chosen = {key: path for key, path in values["fields"].items() if path is not None}
    return with_fields(profile, chosen)
