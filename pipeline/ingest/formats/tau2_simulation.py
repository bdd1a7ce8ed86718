"""A simulation of tau2-bench as a row: one attempt of an agent at the task of a simulated user.

The task of its `task_id` is not believed where the criteria that it was checked by are those of
another task: public files were renumbered. What was asked is then that task's scenario, and
`criteria_of_task` names it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pipeline.ingest.formats import (
    Reading,
    Reject,
    Row,
    call,
    fields,
    get,
    items,
    message,
    number,
    result,
    text,
    told,
)

# Checks that are a task's own, in the order of its criteria.
OWN = {
    "action_checks": ("action", "action_id"),
    "communicate_checks": ("info",),
    "nl_assertions": ("nl_assertion",),
}
SAID = ("reason_for_call", "known_info", "unknown_info", "task_instructions")
# Lists of what was checked: where the name of each check stands.
CHECKS = {
    "action_checks": ("action", "name"),
    "communicate_checks": ("info",),
    "env_assertions": ("env_assertion", "func_name"),
    "nl_assertions": ("nl_assertion",),
}


@dataclass(frozen=True)
class Header:
    """What a document says besides simulations; ids of tasks by criteria that no other has."""

    info: Any = None
    domain: str = "tau2"
    model: str | None = None
    tasks: dict[str, Any] = field(default_factory=dict)
    by_criteria: dict[str, str | None] = field(default_factory=dict)


def header(given: dict[str, Any]) -> Header:
    """Of all fields but simulations; files made by others name domain and model themselves."""
    tasks = {task: one for one in items(given.get("tasks")) if (task := text(get(one, "id")))}
    by_criteria: dict[str, str | None] = {}
    for task, one in tasks.items():
        key = json.dumps(_criteria(one))
        by_criteria[key] = None if key in by_criteria else task
    info = given.get("info")
    named = text(get(info, "environment_info", "domain_name")) or text(given.get("domain"))
    model = text(get(info, "agent_info", "llm")) or text(given.get("model"))
    return Header(info, named or "tau2", model, tasks, by_criteria)


def _criteria(task: Any) -> list[list[Any]]:
    """Actions by their ids, facts to be said, assertions: what tells tasks apart."""
    given = fields(get(task, "evaluation_criteria"))
    actions = [get(one, "action_id") for one in items(given.get("actions"))]
    return [actions, items(given.get("communicate_info")), items(given.get("nl_assertions"))]


def simulation(said: Any, header: Header) -> Iterator[Reading]:
    """The row of a simulation, or why it is none."""
    task, trial = text(get(said, "task_id")), get(said, "trial")
    if task is None or not isinstance(trial, (int, type(None))):
        yield Reject("not a simulation: no task_id, or a trial that is no number", str(said)[:200])
        return
    info, rewards = header.info, fields(get(said, "reward_info"))
    checks = {name: _checks(rewards.get(name), path) for name, path in CHECKS.items()}
    asked_as = _task_of(rewards, task, header)
    ended = text(get(said, "termination_reason"))
    is_scored = ended != "infrastructure_error"
    value = {
        "_ng_task_index": task,
        "_ng_rollout_index": trial,
        "responses_create_params": told(
            {
                "input": _asked(info, header.tasks.get(asked_as)),
                "model": header.model,
                "temperature": number(get(info, "agent_info", "llm_args", "temperature")),
            }
        ),
        "response": _response(said, header.model),
        "reward_breakdown": fields(rewards.get("reward_breakdown")),
        "db_check": told({"db_match": get(rewards, "db_check", "db_match")}),
        **checks,
        "finish_reason": ended,
        "termination_reason": ended,
        "error_message": text(get(rewards, "info", "note")),
        "review_agent_error": get(said, "review", "agent_error"),
        "review_user_error": get(said, "review", "user_error"),
        "user_cost": number(get(said, "user_cost")),
        "total_run_time": number(get(said, "duration")),
        "simulation_id": text(get(said, "id")),
        "criteria_of_task": asked_as if asked_as != task else None,
    }
    reward = number(rewards.get("reward")) if is_scored else None
    order = text(get(said, "start_time")) or text(get(said, "timestamp"))
    yield Row({**told(value), "reward": reward}, benchmark=header.domain, order=order)


def _task_of(rewards: dict[str, Any], task: str, header: Header) -> str:
    """The task whose criteria were checked: the one that is named, unless they contradict it."""
    checked = [[get(one, *path) for one in items(rewards.get(name))] for name, path in OWN.items()]
    pairs = zip(OWN, checked, _criteria(header.tasks.get(task)), strict=True)
    if all(found == wanted for name, found, wanted in pairs if rewards.get(name) is not None):
        return task
    return header.by_criteria.get(json.dumps(checked)) or task


def _checks(given: Any, path: tuple[str, ...]) -> list[dict[str, Any]]:
    """Checks with a name, a verdict and a reason; actions with what they should have been."""
    found = []
    for one in items(given):
        verdict = next(
            (get(one, key) for key in ("action_match", "met") if key in fields(one)), None
        )
        arguments = get(one, "action", "arguments")
        wanted = json.dumps(arguments, ensure_ascii=False) if arguments else None
        said = text(get(one, "justification")) or text(get(one, "reasoning")) or wanted
        entry = {"name": text(get(one, *path)), "met": verdict, "explanation": said}
        found.append(told(entry))
    return [entry for entry in found if "name" in entry]


def _asked(info: Any, task: Any) -> list[dict[str, Any]]:
    """The agent's policy, and the scenario that the simulated user plays."""
    policy = text(get(info, "environment_info", "policy"))
    told_to = get(task, "user_scenario", "instructions")
    parts = [told_to] if isinstance(told_to, str) else [fields(told_to).get(name) for name in SAID]
    scenario = "\n\n".join(one for one in [*parts, get(task, "ticket")] if isinstance(one, str))
    said = [("system", policy), ("user", scenario)]
    return [message(one, role) for role, one in said if one] if scenario else []


def _response(said: Any, model: str | None) -> dict[str, Any]:
    messages = get(said, "messages")
    spoken = [one for one in items(messages) if get(one, "role") == "assistant"]
    usage = {
        "input_tokens": _sum(spoken, "prompt_tokens"),
        "output_tokens": _sum(spoken, "completion_tokens"),
        "cost": number(get(said, "agent_cost")),
    }
    response = told({"model": model, "usage": told(usage)})
    if not isinstance(messages, list):
        return response | {"object": "response"}  # voice: ticks, which are no transcript
    return {**response, "output": [item for one in messages for item in _items(one)]}


def _sum(messages: list[Any], name: str) -> int | None:
    counts = [get(one, "usage", name) for one in messages]
    known = [one for one in counts if isinstance(one, int) and 0 <= one < 1 << 53]
    return sum(known) if known else None


def _items(said: Any) -> Iterator[dict[str, Any]]:
    """Items of one message; tools that the simulated user calls are told apart by name."""
    role, content = text(get(said, "role")) or "assistant", get(said, "content")
    if role == "tool":
        answer = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        if get(said, "error") is True:
            answer = json.dumps({"error": answer}, ensure_ascii=False)
        yield result(answer, get(said, "id"))
        return
    if isinstance(content, str) and content:
        yield message(content, role)
    for one in items(get(said, "tool_calls")):
        name = text(get(one, "name")) or ""
        by_user = role == "user" or get(one, "requestor") == "user"
        yield call(f"user:{name}" if by_user else name, get(one, "arguments"), get(one, "id"))
