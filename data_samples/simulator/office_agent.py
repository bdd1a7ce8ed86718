"""Plays an office plan rightly, and checks what was played."""

from __future__ import annotations

import json
from typing import Any

from simulator import prose
from simulator.episode import Episode, Item, Task
from simulator.office_tasks import Plan, Step
from simulator.office_world import WRITES, tool_error


def play_pass(episode: Episode, task: Task) -> None:
    """Solve the task; now and then with a recovered error or a needless read on the way."""
    rng, plan = episode.rng, plan_of(task)
    open_with(episode, task)
    recovered = rng.random() < 0.2
    bad_step = rng.randrange(len(plan.writes)) if recovered else -1
    read_first(episode, plan)
    if plan.lookups and rng.random() < 0.15:
        do(episode, rng.choice(plan.lookups))
    for number, step in enumerate(plan.writes):
        if number == bad_step:
            for _ in range(rng.choice((1, 1, 2))):
                episode.call(step.tool, step.arguments, tool_error(rng, step.tool))
            if rng.random() < 0.5:
                episode.think("That call failed with an error. I will try it once more.")
        do(episode, step)
    episode.say(prose.done(rng, plan.done, recovered=recovered))


def verify(task: Task, items: list[Item]) -> int:
    """How many of the expected writes were made; -1 where something else was written too."""
    failed = {item["call_id"] for item in items if is_error(item)}
    made = [
        {"name": item["name"], "kwargs": _parsed(item["arguments"])}
        for item in items
        if item["type"] == "function_call"
        and item["name"] in WRITES
        and item["call_id"] not in failed
    ]
    expected = task.fields["expected_actions"]
    if any(action not in expected for action in made):
        return -1
    return sum(action in made for action in expected)


def is_error(item: Item) -> bool:
    """Whether a tool failed: the good results of this world are known, and few."""
    good = (
        '{"output":"',
        '{"output":[',
        '{"emails":',
        '{"events":',
        '{"customers":',
        '{"tickets":',
    )
    return item["type"] == "function_call_output" and not item["output"].startswith(good)


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return None


def plan_of(task: Task) -> Plan:
    assert isinstance(task.way, Plan)
    return task.way


def do(episode: Episode, step: Step) -> int:
    return episode.call(step.tool, step.arguments, step.result)


def mark(episode: Episode, seq: int) -> None:
    """The first marked event decides; the later ones only follow from it."""
    if episode.decisive is None:
        episode.decisive = seq
    else:
        episode.also.append(seq)


def open_with(episode: Episode, task: Task) -> None:
    if episode.rng.random() < 0.55:
        episode.think(prose.thought(episode.rng, task.prompt))


def read_first(episode: Episode, plan: Plan) -> None:
    """The lookups and searches of the plan; sometimes with an error that a retry mends."""
    for step in plan.lookups + plan.searches:
        if episode.rng.random() < 0.06:
            episode.call(step.tool, step.arguments, tool_error(episode.rng, step.tool))
        do(episode, step)
