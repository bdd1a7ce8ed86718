"""blade.toml, where it stands -> a Profile; what it holds beyond the contract is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from pipeline import toml
from pipeline.errors import UsageError
from pipeline.profile import fields
from pipeline.profile.askable import FEATURE_COLUMNS, is_evidence
from pipeline.toml import Contract, Entry, Table, shown

PROFILE_NAME = "blade.toml"
# Where a package keeps its rollouts.
PACKAGED = ("rollouts", "data")
MOST_TASKS = 10_000_000
MOST_REPEATS = 100_000
MOST_EXPECTED = 10_000_000
BUILT_IN_STAGES = (
    "expected",
    "recorded",
    "produced output",
    "attempted the core action",
    "completed without truncation",
    "reached the verifier",
    "received feedback",
    "passed",
)
# Every funnel begins and ends with these.
FIXED_STAGES = ("expected", "recorded", "passed")
STAGE_EXAMPLE, WHEN_EXAMPLE = 'stage = "called a tool"', 'when = "n_tool_calls > 0"'

# Root causes, and what can be done about them (BLADE's labels).
CAUSES = ("KG", "UK", "BI", "TI", "IR", "DA")
INTERVENTIONS = ("harness", "prompt", "data", "training", "verifier repair", "infrastructure")
UNEXPLAINED = "UNEXPLAINED"
BUILT_IN = Path(__file__).with_name("failure_modes.toml")
DEFAULT_SEVERITY, WORST = 50, 100
MODE_EXAMPLE, MODE_WHEN = 'mode = "WRONG_CURRENCY"', 'when = "n_tool_errors > 3"'
# A mode is a key of tables, files and pages.
PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,59}")

FIELD_EXAMPLES = {
    "task_id": "verifier_metadata.instance_id",
    "reward": "metrics.score",
    "answer": "extracted_answer",
    "group": "verifier_metadata.repo",
}
CONTRACT = Contract(
    noun="profile",
    file_name=PROFILE_NAME,
    tables={
        "": Table("benchmark baseline pass_threshold slices fields expected funnel failure_mode"),
        "fields": Table(" ".join(FIELD_EXAMPLES), example='fields.reward = "metrics.score"'),
        "expected": Table("tasks repeats", example="expected.tasks = 22"),
        "funnel": Table("stage when", each="stage"),
        "failure_mode": Table(
            "mode title when cause severity intervention evidence signal", each="failure mode"
        ),
    },
)


@dataclass(frozen=True)
class Stage:
    """A stage of the funnel; a built-in one needs no predicate."""

    table: ClassVar = "funnel"
    stage: str
    when: str | None

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"funnel stage {shown(self.stage)}"


@dataclass(frozen=True)
class FailureMode:
    """A way to fail, and the predicate that shows it; `evidence` is a column that holds the proof.

    `is_words` where the signal is only what a text says.
    """

    table: ClassVar = "failure_mode"
    mode: str
    title: str
    when: str
    cause: str
    severity: int
    intervention: str | None
    evidence: str | None
    is_words: bool

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"failure mode {shown(self.mode)}"


@dataclass(frozen=True)
class Profile:
    """A blade.toml. Field paths are as written, `name` is the file's name in messages."""

    name: str = ""
    benchmark: str | None = None
    baselines: tuple[str, ...] = ()
    pass_threshold: float | None = None
    task_id: str | None = None
    reward: str | None = None
    answer: str | None = None
    group: str | None = None
    slices: tuple[str, ...] | None = None
    expected_tasks: int | None = None
    expected_task_ids: tuple[str, ...] | None = None
    expected_repeats: int | None = None
    funnel: tuple[Stage, ...] = ()
    failure_modes: tuple[FailureMode, ...] = ()


def beside(inputs: list[Path]) -> Path | None:
    """The blade.toml in the folders that were given, or beside the files.

    That of a package stands beside its folder of rollouts.
    """
    folders = dict.fromkeys(path if path.is_dir() else path.parent for path in inputs)
    found = list(dict.fromkeys(path for folder in folders for path in _in_folder(folder)))
    if len(found) > 1:
        listing = ", ".join(str(path) for path in found)
        raise UsageError(
            f"several profiles: {listing}.", hint="Name the one that counts with --profile."
        )
    return found[0] if found else None


def _in_folder(folder: Path) -> list[Path]:
    named = folder if folder.name else folder.absolute()
    places = [folder, named.parent] if named.name in PACKAGED else [folder]
    found = [place / PROFILE_NAME for place in places if (place / PROFILE_NAME).is_file()]
    return found[:1]


def read(path: Path, *, name: str | None = None) -> Profile:
    """The profile in a file; `name` is what messages call it, by default the path."""
    top = toml.read(path, str(path) if name is None else name, CONTRACT)
    named: dict[str, Any] = {
        field: _path(top.at("fields").at(field), example=f'{field} = "{example}"')
        for field, example in FIELD_EXAMPLES.items()
    }
    return Profile(
        name=top.file,
        benchmark=top.at("benchmark").text("a name", example='benchmark = "office_desk"'),
        baselines=_baselines(top.at("baseline")),
        pass_threshold=top.at("pass_threshold").number("a number", example="pass_threshold = 0.5"),
        slices=_slices(top.at("slices")),
        **named,
        **_expected(top.at("expected")),
        funnel=_funnel(top.at("funnel")),
        failure_modes=failure_modes(top.at("failure_mode")),
    )


def _baselines(entry: Entry) -> tuple[str, ...]:
    """One run's name, or a list of them, one per benchmark."""
    example = 'baseline = "office_desk_aster-8b"'
    names = entry.items() if isinstance(entry.value, list) else [entry]
    read = (name.text("a run's name", example=example) for name in names)
    return tuple(dict.fromkeys(name for name in read if name is not None))


def _path(entry: Entry, *, example: str) -> str | None:
    path = entry.text("a field path", example=example)
    try:
        fields.names(path or fields.EXAMPLE)
    except UsageError as error:
        why = f"is {shown(path)}, which is not a field path: {error}."
        raise entry.refused(why, hint=error.hint) from error
    return path


def _slices(entry: Entry) -> tuple[str, ...] | None:
    example = f'slices = ["category", "{fields.EXAMPLE}"]'
    if entry.value is None:
        return None
    if not isinstance(entry.value, list):
        raise entry.wrong("a list of field paths", example=example)
    slices = tuple(_path(item, example=example) or "" for item in entry.items())
    twice = toml.first_repeated(fields.names(path) for path in slices)
    if twice is not None:
        raise entry.refused(f"names {shown(slices[twice])} twice.", hint="Each counts once.")
    return slices


def _expected(entry: Entry) -> dict[str, Any]:
    tasks, repeats = entry.at("tasks"), entry.at("repeats")
    example = 'tasks = 22, or tasks = ["task-1", "task-2"]'
    n_tasks, ids = None, None
    if isinstance(tasks.value, list):
        ids = _task_ids(tasks, example=example)
    else:
        expected = f"a count from 1 to {MOST_TASKS} or a list of task ids"
        n_tasks = tasks.integer(MOST_TASKS, expected, example=example)
    expected = f"an integer from 1 to {MOST_REPEATS}"
    n_repeats = repeats.integer(MOST_REPEATS, expected, example="repeats = 4")
    n_rollouts = (n_tasks or len(ids or ())) * (n_repeats or 1)
    if n_rollouts > MOST_EXPECTED:
        raise repeats.error(
            f"tasks and repeats make {n_rollouts:,} rollouts.",
            hint=f"At most {MOST_EXPECTED:,} can be expected.",
        )
    return {"expected_tasks": n_tasks, "expected_task_ids": ids, "expected_repeats": n_repeats}


def _task_ids(entry: Entry, *, example: str) -> tuple[str, ...]:
    if not entry.value:
        raise entry.wrong("a count or a list of task ids", example=example)
    each = "a task id, text or an integer, in the list"
    ids = tuple(item.as_text().text(each, example=example) or "" for item in entry.items())
    twice = toml.first_repeated(ids)
    if twice is not None:
        raise entry.refused(f"names {shown(ids[twice])} twice.", hint="Each is one task.")
    return ids


def _funnel(entry: Entry) -> tuple[Stage, ...]:
    stages = [_stage(each) for each in entry.items()]
    twice = toml.first_repeated(stage.stage for stage in stages)
    if twice is not None:
        name = shown(stages[twice].stage)
        raise entry.item(twice).at("stage").error(f"funnel has two stages named {name}.")
    return tuple(stages)


def _stage(entry: Entry) -> Stage:
    name = entry.at("stage").text("a name", example=STAGE_EXAMPLE)
    when = entry.at("when").text("a SQL predicate", example=WHEN_EXAMPLE)
    if name is None:
        raise entry.error("this stage of the funnel has no name.", hint='Add: stage = "a name"')
    if name in FIXED_STAGES:
        raise entry.error(
            f"funnel stage {shown(name)} has its place already.",
            hint=f"These are always there: {', '.join(FIXED_STAGES)}. Leave it out.",
        )
    if when is None and name not in BUILT_IN_STAGES:
        raise entry.at("stage").error(
            f"funnel stage {shown(name)} has no predicate.",
            hint=f"Add: {WHEN_EXAMPLE}. Built in are: {', '.join(BUILT_IN_STAGES)}.",
        )
    return Stage(name, when)


@cache
def built_in() -> tuple[FailureMode, ...]:
    """The modes of every benchmark, written as a profile would write them."""
    return failure_modes(toml.read(BUILT_IN, BUILT_IN.name, CONTRACT).at("failure_mode"))


def failure_modes(entry: Entry) -> tuple[FailureMode, ...]:
    """The modes in the order of the file, each once."""
    modes = [_failure_mode(each) for each in entry.items()]
    twice = toml.first_repeated(mode.mode for mode in modes)
    if twice is not None:
        name = shown(modes[twice].mode)
        raise entry.item(twice).at("mode").error(f"failure_mode names {name} twice.")
    return tuple(modes)


def _failure_mode(entry: Entry) -> FailureMode:
    title = 'title = "paid in the wrong currency"'
    mode, when = _mode(entry.at("mode")), entry.at("when")
    predicate = when.text("a SQL predicate", example=MODE_WHEN)
    if mode is None:
        raise entry.error("this failure mode has no mode.", hint=f"Add: {MODE_EXAMPLE}")
    if predicate is None:
        raise entry.error("this failure mode has no when.", hint=f"Add: {MODE_WHEN}")
    severity = entry.at("severity").integer(
        WORST, f"an integer from 1 to {WORST}", example="severity = 50"
    )
    return FailureMode(
        mode=mode,
        title=entry.at("title").text("a few words", example=title)
        or mode.replace("_", " ").lower(),
        when=predicate,
        cause=entry.at("cause").choice((*CAUSES, UNEXPLAINED)) or UNEXPLAINED,
        severity=severity or DEFAULT_SEVERITY,
        intervention=entry.at("intervention").choice(INTERVENTIONS),
        evidence=_evidence(entry.at("evidence")),
        is_words=entry.at("signal").choice(("field", "words")) == "words",
    )


def _mode(entry: Entry) -> str | None:
    name = entry.text("a name", example=MODE_EXAMPLE)
    if name is not None and not PLAIN_NAME.fullmatch(name):
        expected = "a letter, then up to 59 letters, digits, _ or -"
        raise entry.wrong(expected, example=MODE_EXAMPLE)
    if name is not None and name.upper() == UNEXPLAINED:
        raise entry.error(f"{UNEXPLAINED} is what no rule explains.", hint="Choose another name.")
    return name


def _evidence(entry: Entry) -> str | None:
    if entry.value is None:
        return None
    if not isinstance(entry.value, str) or not is_evidence(entry.value):
        shows = ", ".join(name for name in FEATURE_COLUMNS if is_evidence(name))
        why = f"is {shown(entry.value)}, which shows no event and no text."
        raise entry.refused(why, hint=f"Columns that do: {shows}.")
    return entry.value
