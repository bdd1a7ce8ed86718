"""Tasks by runs, one mark per repeat, with what a reader may filter them by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from ..content import Content
from ..declared import TABLES
from ..figures import Row, grouped
from ..tables import Source, rows
from .evidence import n_alike

STEP, MIDDLE = 9, 5
LONG_SHARED = 40
MOST_OPTIONS = 60
# Drawn by shape as well as by colour: a dot, a cross, a ring, a dash, a point.
SHAPES = {
    "p": ("passed", "M{x} 5h0"),
    "f": ("failed", "M{x} 5m-2.5-2.5l5 5m0-5l-5 5"),
    "r": ("scored", "M{x} 5m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0"),
    "u": ("unscored", "M{x} 5m-2.5 0h5"),
    "m": ("absent", "M{x} 5h0"),
}
KINDS = ("bucket", "failure mode", "failed check", "slice")
# Of these a row says how it fails.
SIGNS = {"failure mode": "", "failed check": "check "}
Tag = tuple[str, str]


@dataclass(frozen=True)
class Task:
    """A task: its row of each run, none where the run was not asked it."""

    task_id: str
    prompt: str | None
    cells: list[Row | None]
    signs: list[str]
    tags: list[int]


@dataclass(frozen=True)
class Strip:
    """A benchmark's tasks by its runs; each option of a filter has a number, which tasks carry."""

    benchmark: str
    runs: list[str]
    tasks: list[Task]
    n_tasks: int
    n_runs: int
    # Of every cell, so that what is written beside the marks is aligned.
    width: int
    options: list[tuple[str, list[tuple[int, str]]]]


def strips(source: Source, content: Content) -> list[Strip]:
    """The strip of each benchmark, of the runs that the report is about."""
    if not content.strips:
        content.strips.update(grouped(rows(source, TABLES["strips"]), "benchmark"))
    runs = Counter(run.benchmark for run in content.runs)
    run_ids = {run.run_id for run in content.runs}
    rows_of_runs = {
        name: [row for row in own if row.values["run_id"] in run_ids]
        for name, own in content.strips.items()
        if name in runs
    }
    return [_strip(name, own, runs[name]) for name, own in rows_of_runs.items() if own]


def _strip(benchmark: str, outcomes: list[Row], n_runs: int) -> Strip:
    runs = sorted({row.values["run_id"] for row in outcomes})
    by_task = [list(own) for _, own in groupby(outcomes, key=lambda row: row.values["task_id"])]
    tags = [list(dict.fromkeys(tag for row in own for tag in _tags(row))) for own in by_task]
    numbers = _numbers(Counter(tag for own in tags for tag in own))
    options = [(k, [(n, name) for (kind, name), n in numbers.items() if kind == k]) for k in KINDS]
    tasks = []
    prompts = _apart([own[0].values["prompt"] for own in by_task])
    for own, prompt, tagged in zip(by_task, prompts, tags, strict=True):
        cells = {row.run_id: row for row in own}
        task = Task(
            own[0].task_id,
            prompt,
            [cells.get(run) for run in runs],
            [SIGNS[kind] + name for kind, name in tagged if kind in SIGNS],
            sorted(numbers[tag] for tag in tagged if tag in numbers),
        )
        tasks.append(task)
    return Strip(
        benchmark,
        runs,
        tasks,
        outcomes[0].values["n_tasks"],
        n_runs,
        STEP * max(len(row.values["marks"] or "") for row in outcomes) + 1,
        [each for each in options if len(each[1]) > 1],
    )


def _tags(row: Row) -> Iterator[Tag]:
    """What the task may be found by: what is so in this run, and its own slices."""
    values = row.values
    slices = [f"{name} = {value}" for name, value in sorted((values["slices"] or {}).items())]
    for kind, names in zip(
        KINDS, ([values["bucket"]], values["modes"], values["checks"], slices), strict=True
    ):
        yield from ((kind, name) for name in names or [] if name)


def _numbers(counts: Counter[Tag]) -> dict[Tag, int]:
    """Of each kind the tags that most tasks have, by name, all numbered."""
    ranked = sorted(counts, key=lambda tag: (-counts[tag], tag))
    of_kinds = ([tag for tag in ranked if tag[0] == kind] for kind in KINDS)
    frequent = (tag for tags in of_kinds for tag in sorted(tags[:MOST_OPTIONS]))
    return {tag: number for number, tag in enumerate(frequent)}


def _apart(prompts: list[str | None]) -> list[str | None]:
    """Questions that all begin alike without what they share: it tells no task from another."""
    shared = n_alike([prompt for prompt in prompts if prompt is not None])
    if shared < LONG_SHARED or len(prompts) < 2:
        return prompts
    return [prompt and f"…{prompt[shared:].lstrip()}" for prompt in prompts]


@lru_cache(maxsize=10_000)
def paths(marks: str) -> list[tuple[str, str]]:
    """One path per kind of end, through the places of its repeats."""
    places = [(mark, MIDDLE + STEP * at) for at, mark in enumerate(marks)]
    return [
        (name, "".join(shape.format(x=x) for each, x in places if each == mark))
        for mark, (name, shape) in SHAPES.items()
        if mark in marks
    ]
