"""Draws the tasks of the two demo benchmarks, a few of them with a planted flaw."""

from __future__ import annotations

import random
from collections.abc import Iterator

from simulator.episode import Task
from simulator.office_tasks import KINDS, SPECIAL_KINDS, office_task
from simulator.office_world import make_world
from simulator.phrases import generator
from simulator.sums_tasks import KINDS as SUM_KINDS
from simulator.sums_tasks import Sum, sums_task

# One of each to every so many tasks.
PER_FLAW = 24
OFFICE_FLAWS = ("skipped_lookup", "dropped_filter", "verifier_error", "limit_too_low", "timeout")
SUMS_FLAWS = ("reference_contradiction", "duplicate_prompt")
MIN_TASKS = 12


def office_tasks(seed: int, n_tasks: int) -> list[Task]:
    rng = generator("office", seed)
    world = make_world(rng)
    kinds = list(KINDS)
    rng.shuffle(kinds)
    tasks: list[Task] = []
    for index, (flaw, difficulty) in enumerate(_slots(rng, n_tasks, OFFICE_FLAWS)):
        kind = SPECIAL_KINDS.get(flaw or "", kinds[index % len(kinds)])
        task = office_task(world, index, kind, difficulty, flaw)
        # Two tasks must not ask the same by chance: that is a flaw of its own.
        while any(task.prompt == other.prompt for other in tasks):
            task = office_task(world, index, kind, difficulty, flaw)
        tasks.append(task)
    return tasks


def sums_tasks(seed: int, n_tasks: int) -> list[Task]:
    rng = generator("sums", seed)
    categories = list(SUM_KINDS)
    rng.shuffle(categories)
    tasks: list[Task] = []
    for index, (flaw, difficulty) in enumerate(_slots(rng, n_tasks, SUMS_FLAWS)):
        category = categories[index % len(categories)]
        if flaw == "duplicate_prompt":
            tasks.append(_twin(rng, index, rng.choice([t for t in tasks if t.flaw is None])))
            continue
        worked = _new_sum(rng, category, tasks)
        tasks.append(sums_task(index, category, worked, difficulty, flaw, worked.answer))
    return tasks


def _new_sum(rng: random.Random, category: str, tasks: list[Task]) -> Sum:
    worked = SUM_KINDS[category](rng)
    while any(worked.question == task.way.question for task in tasks):
        worked = SUM_KINDS[category](rng)
    return worked


def _twin(rng: random.Random, index: int, task: Task) -> Task:
    """The same question once more, with another reference."""
    wrong = [slip for slip in task.way.slips if slip != task.way.answer]
    return sums_task(
        index, task.category, task.way, task.difficulty, "duplicate_prompt", rng.choice(wrong)
    )


def _slots(
    rng: random.Random, n_tasks: int, flaws: tuple[str, ...]
) -> Iterator[tuple[str | None, str]]:
    """For each task its flaw, if any, and its difficulty: a third each of easy, medium and hard."""
    if n_tasks < MIN_TASKS:
        raise ValueError(
            f"{n_tasks} tasks are too few for every planted flaw: at least {MIN_TASKS}"
        )
    drawn: list[str | None] = [flaw for flaw in flaws for _ in range(max(1, n_tasks // PER_FLAW))]
    drawn += [None] * (n_tasks - len(drawn))
    rng.shuffle(drawn)
    # A twin needs a sound task before it.
    first_sound = drawn.index(None)
    drawn[0], drawn[first_sound] = drawn[first_sound], drawn[0]
    difficulties = [("easy", "medium", "hard")[number % 3] for number in range(n_tasks)]
    rng.shuffle(difficulties)
    return zip(drawn, difficulties, strict=True)
