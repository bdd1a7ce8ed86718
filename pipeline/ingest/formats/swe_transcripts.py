"""Transcripts of agents on SWE-bench: SWE-agent, mini-swe-agent and OpenHands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from . import (
    Object,
    atif,
    call,
    fields,
    get,
    items,
    message,
    number,
    result,
    text,
    total,
)
from .chat import chat, words

# How mini-swe-agent before version 2 writes a command, and a word that names a command.
COMMAND = re.compile(r"```\w*\n(.*?)\n?```", re.DOTALL)
WORD = re.compile(r"[\w./-]+")
# What ended an agent was a cap on its cost, its context, its steps or its time.
CAP = re.compile(
    r"exit_(?:cost|context|total_execution_time|command_timeout)|LimitsExceeded|maximum iteration"
)
USED = {
    "input_tokens": "prompt_tokens",
    "output_tokens": "completion_tokens",
    "cached_tokens": "cache_read_tokens",
}
SENT = {"input_tokens": "tokens_sent", "output_tokens": "tokens_received"}
NO_TRAJECTORY = "not a trajectory: no messages and no steps"
# Events of OpenHands about itself.
OWN_EVENTS = frozenset("recall change_agent_state agent_state_changed null condensation".split())


@dataclass(frozen=True)
class Transcript:
    """The question, the fields of the row that say what followed, and how the attempt ended."""

    question: list[Any]
    row: Object
    ended: str | None
    model: str | None

    @property
    def cap(self) -> str | None:
        """The cap that ended the attempt, in the word of the agent."""
        cap = CAP.search(self.ended or "")
        return cap[0] if cap else None


def trajectory(content: Any) -> Transcript:
    """The transcript of a `.traj` or `.traj.json` document; some say how it ended alone."""
    if isinstance(content, dict) and content.keys().isdisjoint({"info", "messages", "trajectory"}):
        ended = text(content, "exit_status")
        if not ended:
            raise ValueError(NO_TRAJECTORY)
        return Transcript([], {"exit_status": ended, "error": text(content, "error")}, ended, None)
    info = fields(content, "info")
    stats = fields(info, "model_stats")
    if isinstance(content, dict) and "trajectory" in content:
        question, _ = _parted(items(content, "history"))
        output = list(_steps(items(content["trajectory"])))
        agent, model = "SWE-agent", get(content, "replay_config", "agent", "model", "name")
        counts = {key: number(stats, name) for key, name in SENT.items()}
        times: list[float] = []
    else:
        listed = items(content, "messages") if isinstance(content, dict) else items(content)
        question, rest = _parted(listed)
        output = list(chat(list(_with_commands(rest))))
        agent, model = "mini-swe-agent", get(info, "config", "model", "model_name")
        calls = [get(one, "extra", "response", "usage") for one in listed]
        counts = {key: total(number(one, name) for one in calls) for key, name in USED.items()}
        times = [
            time
            for one in listed
            if (time := number(one, "extra", "timestamp") or number(one, "timestamp"))
        ]
    has_lists = isinstance(content, dict) and {"messages", "trajectory"} & content.keys()
    if not (question or output or (info and has_lists)):
        raise ValueError(NO_TRAJECTORY)
    ended = text(info, "exit_status")
    row = {
        "agent_ref": {"name": agent},
        "response": _response(output, counts, stats.get("instance_cost")),
        "exit_status": ended,
        "api_calls": number(stats, "api_calls"),
        "total_run_time": max(times) - min(times) if len(times) > 1 else None,
    }
    return Transcript(list(chat(question)), row, ended, text(model))


def _response(output: list[Any], counts: dict[str, float | None], cost: Any) -> Object:
    spent = atif.usage({**counts, "cost": number(cost)})
    # An empty list of messages says nothing of what was done.
    return {"object": "response", "usage": spent, **({"output": output} if output else {})}


def _parted(messages: list[Any]) -> tuple[list[Any], list[Any]]:
    own = [one for one in messages if not get(one, "is_demo")]
    first = next((n for n, one in enumerate(own) if get(one, "role") == "assistant"), len(own))
    return own[:first], own[first:]


def _steps(steps: Iterable[Any]) -> Iterator[Object]:
    for place, step in enumerate(steps):
        thought = text(step, "thought") or text(step, "response")
        action = text(step, "action") or ""
        if thought:
            yield message(thought)
        if action.strip():
            named = WORD.match(action.strip())
            yield call(named[0] if named else "bash", {"command": action}, f"step-{place}")
            yield result(text(step, "observation") or "", f"step-{place}")


def _with_commands(messages: list[Any]) -> Iterator[Any]:
    """The messages, with commands that are written as text, and their output as results."""
    is_waiting = False
    for place, one in enumerate(messages):
        content, role = get(one, "content"), get(one, "role")
        written = COMMAND.findall(content) if isinstance(content, str) else []
        if role == "exit":
            continue
        if is_waiting and role == "user":
            yield {"role": "tool", "content": content}
        elif role == "assistant" and len(written) == 1 and not get(one, "tool_calls"):
            run = {"id": f"command-{place}", "name": "bash", "arguments": {"command": written[0]}}
            rest = COMMAND.sub("", content).strip()
            yield {"role": "assistant", "content": rest, "tool_calls": [run]}
            is_waiting = True
            continue
        else:
            yield one
        is_waiting = False


def openhands(row: Object) -> Transcript:
    """The transcript of a row of `output.jsonl`, of either kind of events."""
    events = [
        event
        for one in items(row, "history")
        for event in (one if isinstance(one, list) else [one])
        if isinstance(event, dict)
    ]
    question: list[Any] = []
    output: list[Any] = []
    for event in events:
        for item in _items(event):
            is_asked = not output and item.get("role") in ("system", "user")
            (question if is_asked else output).append(item)
    metrics, metadata = fields(row, "metrics"), fields(row, "metadata")
    spent = fields(metrics, "accumulated_token_usage")
    ended = text(row, "error")
    counts = {key: number(spent, name) for key, name in USED.items()}
    recorded = {
        "agent_ref": {"name": text(metadata, "agent_class") or "OpenHands"},
        "response": _response(output, counts, metrics.get("accumulated_cost")),
        "error_message": ended,
        "total_run_time": atif.seconds(get(events, 0, "timestamp"), get(events, -1, "timestamp")),
    }
    model = get(metadata, "llm_config", "model") or get(metadata, "llm", "model")
    return Transcript(question, recorded, ended, text(model))


def _items(event: Object) -> Iterator[Object]:
    """The items of an event: a message, a call with the thought before it, or a result.

    From version 1 on events have a kind; before, an action or an observation.
    """
    args, made_by = fields(event, "args"), fields(event, "tool_call_metadata")
    kind = event.get("kind") or event.get("action") or event.get("observation")
    parts = (
        args.get("content"),
        event.get("content"),
        get(event, "llm_message", "content"),
        get(event, "observation", "content"),
        get(event, "system_prompt", "text"),
        event.get("error"),
    )
    content = words(next((part for part in parts if part), ""))
    place = event.get("tool_call_id") or made_by.get("tool_call_id")
    place = place or event.get("cause", event.get("id"))
    if kind in ("system", "SystemPromptEvent"):
        yield message(content, "system")
    elif kind in ("message", "MessageEvent"):
        yield message(content, "user" if event.get("source") == "user" else "assistant")
    elif kind == "ActionEvent" or ("action" in event and kind not in OWN_EVENTS):
        if reasoning := text(event, "reasoning_content"):
            yield {"type": "reasoning", "content": reasoning}
        if thought := words(event.get("thought") or args.get("thought")):
            yield message(thought)
        plain = {name: value for name, value in args.items() if name != "thought" and value}
        arguments = get(event, "tool_call", "arguments") or plain
        yield call(event.get("tool_name") or made_by.get("function_name") or kind, arguments, place)
    elif kind == "AgentErrorEvent" or ("observation" in event and kind not in OWN_EVENTS):
        yield result(content, place)
