"""Runs to be compared, of every kind a user may have: results for the tests of the command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.results import Content, Row, asked, rollout

N_TASKS, N_REPEATS = 30, 4
HOSTILE = "--><script>alert(1)</script> | [x](http://x.example) `code` **b** \u202e\x1b[2J"

Passes = Callable[[int], int]


def run(passes: Passes, **fields: Any) -> list[Row]:
    """A run that passes so many repeats of each task."""
    return [
        rollout(task, index, reward=float(index < passes(task)), **fields)
        for task in range(N_TASKS)
        for index in range(N_REPEATS)
    ]


def middling(task: int) -> int:
    """From never to always and all between."""
    return task % 5


def better(task: int) -> int:
    """Two more of every task that can have them."""
    return min(middling(task) + 2, N_REPEATS)


def worse(task: int) -> int:
    """Two fewer."""
    return max(middling(task) - 2, 0)


def nearly(task: int) -> int:
    """One pass fewer of one task."""
    return middling(task) - (task == 7)


def gappy() -> list[Row]:
    """The same as the base, but that the failures of every third task were lost."""
    return [
        row
        for row in run(middling)
        if row["reward"] == 1.0 or row["_ng_task_index"] % 3 or row["_ng_task_index"] % 5 == 0
    ]


def grid(n_tasks: int) -> list[Row]:
    """What was asked: every repeat of so many tasks."""
    return [asked(task, index) for task in range(n_tasks) for index in range(N_REPEATS)]


def walk(place: int) -> list[Row]:
    """A checkpoint: of 12 tasks the first three are learned, the others stay."""
    return [
        rollout(task, index, ask=f"walk {task}", reward=float(index < _walked(task, place)))
        for task in range(12)
        for index in range(N_REPEATS)
    ]


def _walked(task: int, place: int) -> int:
    return (0, 2, 4)[place] if task < 3 else (4, 0, 2)[task % 3]


def unsettled(shift: float) -> list[Row]:
    """Rewards beyond 0..1, so that nothing says what passes."""
    return [
        rollout(task, index, ask=f"unsettled {task}", reward=3.0 * task - 9 + shift + 0.25 * index)
        for task in range(8)
        for index in range(2)
    ]


def hostile(model: str, n_passed: int) -> list[Row]:
    """Ids, questions, slices and models that would be markup, or steer a terminal."""
    return [
        rollout(
            None,
            index,
            ask=f"{HOSTILE}{task}",
            reward=float(index < (task + n_passed) % 3),
            task_id=f"{HOSTILE}{task}",
            category=f"{HOSTILE}{task % 2}",
            model=f"{HOSTILE}{model}",
        )
        for task in range(6)
        for index in range(2)
    ]


def tuned(model: str, effort: str, temperature: float) -> list[Row]:
    """A run that says what it was asked with."""
    asks = {"input": [{"role": "user", "content": "What is it?"}], "temperature": temperature}
    return [
        rollout(
            0, 0, model=model, responses_create_params={**asks, "reasoning": {"effort": effort}}
        )
    ]


def files() -> dict[str, Content]:
    """All of them, by file."""
    elsewhere = [
        rollout(task + 1000, index, ask=f"elsewhere {task}", reward=float(index))
        for task in range(3)
        for index in range(2)
    ]
    return {
        "base_rollouts.jsonl": run(middling),
        "better_rollouts.jsonl": run(better),
        "nearly_rollouts.jsonl": run(nearly),
        "rerun_rollouts.jsonl": run(lambda task: (middling(task) + (task % 3 == 0)) % 5),
        "worse_rollouts.jsonl": run(worse),
        "worse_rollouts_materialized_inputs.jsonl": grid(N_TASKS + 1),
        "gappy_rollouts.jsonl": gappy(),
        "gappy_rollouts_materialized_inputs.jsonl": grid(N_TASKS),
        "other_rollouts.jsonl": run(better, ask="quite another question"),
        "elsewhere_rollouts.jsonl": elsewhere,
        "empty_rollouts.jsonl": "",
        "hostile_a_rollouts.jsonl": hostile("a", 0),
        "hostile_b_rollouts.jsonl": hostile("b", 1),
        "tuned_aster_rollouts.jsonl": tuned("aster", "low", 1.0),
        "tuned_aster_config.yaml": "top_k: 40\n",
        "tuned_birch_rollouts.jsonl": tuned("birch", "high", 1),
        "tuned_birch_config.yaml": "top_k: 20\n",
        "unsettled_a_rollouts.jsonl": unsettled(0.0),
        "unsettled_b_rollouts.jsonl": unsettled(0.5),
        "walk_step_500_rollouts.jsonl": walk(0),
        "walk_step_1000_rollouts.jsonl": walk(1),
        "walk_step_1500_rollouts.jsonl": walk(2),
    }
