"""Rollouts with a trajectory, or a plain response, to be spoilt in one respect."""

from __future__ import annotations

from typing import Any

from tests.results import Row, rollout

OF_TOKENS = ("prompt_tokens", "completion_tokens")
OF_CALLS = ("model_call_id", "response")


def call(name: str, start: float | None = 1.0, **changes: Any) -> Row:
    """A model call that went well; `changes` are of its metadata, tokens or itself."""
    metadata = {"response_id": f"resp_{name}", "status_code": 200, "response_status": "completed"}
    tokens: Row = {"prompt_tokens": 10, "completion_tokens": 5}
    made: Row = {"model_call_id": name, "started_at": start}
    for key, value in changes.items():
        place = tokens if key in OF_TOKENS else made if key in OF_CALLS else metadata
        place[key] = value
    return {**made, "response_metadata": metadata, "token_stats": tokens}


def turn(*names: str, **changes: Any) -> Row:
    """A turn that answered, and the calls it names as its own."""
    named = [{"model_call_id": name} for name in names]
    said = {"invocation_id": "root", "turn_no": 1, "answer": "done", "reasoning_content": None}
    return {**said, "model_calls": named, **changes}


def observed(
    turns: list[Row] | None, calls: list[Row] | None, *, gaps: tuple[str, ...] = (), **changes: Any
) -> Row:
    """A rollout with a trajectory: one call of a tool, "done" at the end, usage of its calls."""
    known = [made["token_stats"] for made in calls or []]
    usage = {
        f"{ours}_tokens": sum(tokens.get(f"{theirs}_tokens") or 0 for tokens in known)
        for ours, theirs in (("input", "prompt"), ("output", "completion"))
    }
    output = [
        {"type": "function_call", "name": "look", "call_id": "c", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "ok"},
        {"type": "message", "role": "assistant", "content": "done"},
    ]
    trajectory = {
        "invocations": [{"invocation_id": "root"}],
        "turns": turns,
        "model_calls": calls,
        "tool_calls": [{"invocation_id": "root", "tool_name": "look", "tool_call_id": "c"}],
        "gaps": [{"code": code} for code in gaps],
    }
    fields: Row = {"usage": usage, "output": output, **changes}
    response = {"output": fields.pop("output"), "usage": fields.pop("usage")}
    row = rollout(output=[], ng_trajectory={**trajectory, **fields})
    return {**row, "response": response}


def plain(reward: Any = 1.0, **response: Any) -> Row:
    """A rollout without a trajectory."""
    answer = {"type": "message", "role": "assistant", "content": "done"}
    usage = {"input_tokens": 9, "output_tokens": 3}
    return {
        **rollout(reward=reward),
        "response": {"output": [answer], "usage": usage, "status": "completed", **response},
    }
