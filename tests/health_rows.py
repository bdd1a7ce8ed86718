"""Rollouts with a trajectory or a plain response, each wrong in one respect: health_rows.yaml."""

from __future__ import annotations

from typing import Any

from tests.case_files import cases
from tests.results import Row, rollout, wrote

OF_TOKENS = ("prompt_tokens", "completion_tokens")
OF_CALLS = ("model_call_id", "response", "token_stats")


def call(name: str, start: float | None = 1.0, **changes: Any) -> Row:
    """A model call that went well; `changes` are of its metadata, tokens or itself."""
    metadata = {"response_id": f"resp_{name}", "status_code": 200, "response_status": "completed"}
    tokens: Row = {"prompt_tokens": 10, "completion_tokens": 5}
    created: Row = {"model_call_id": name, "started_at": start, "token_stats": tokens}
    for key, value in changes.items():
        place = tokens if key in OF_TOKENS else created if key in OF_CALLS else metadata
        place[key] = value
    return {**created, "response_metadata": metadata}


def turn(of: tuple[str, ...] = (), **changes: Any) -> Row:
    """A turn that answered, and the calls it names as its own."""
    named = [{"model_call_id": name} for name in of]
    by_name = {"invocation_id": "root", "turn_no": 1, "answer": "done", "reasoning_content": None}
    return {**by_name, "model_calls": named, **changes}


def observed(
    turns: list[Row] | None, calls: list[Row] | None, *, gaps: tuple[str, ...] = (), **changes: Any
) -> Row:
    """A rollout with a trajectory: one call of a tool, "done" at the end, usage of its calls."""
    known = [created["token_stats"] for created in calls or []]
    usage = {
        f"{ours}_tokens": sum(tokens.get(f"{theirs}_tokens") or 0 for tokens in known)
        for ours, theirs in (("input", "prompt"), ("output", "completion"))
    }
    output = [
        {"type": "function_call", "name": "look", "call_id": "c", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "ok"},
        *wrote("done"),
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
    return rollout(output=[], ng_trajectory={**trajectory, **fields}, response=response)


def plain(reward: Any = 1.0, **response: Any) -> Row:
    """A rollout without a trajectory."""
    usage = {"input_tokens": 9, "output_tokens": 3}
    whole = {"output": wrote("done"), "usage": usage, "status": "completed", **response}
    return rollout(reward=reward, response=whole)


def _row(turns: Any = (), calls: Any = (), row: Row | None = None, **inputs: Any) -> Row:
    """A case of the file as a row: of a trajectory, unless it says which other it is."""
    if "says" in inputs:
        inputs["output"] = wrote(inputs.pop("says"))
    if "rollout" in inputs:
        created = rollout(**inputs["rollout"])
    elif "plain" in inputs:
        fields = inputs["plain"]
        words = {"output": wrote(fields["says"])} if "says" in fields else {}
        created = plain(**{name: fields[name] for name in fields if name != "says"}, **words)
    else:
        created = observed(
            None if turns is None else [turn(**each) for each in turns],
            None if calls is None else [call(**each) for each in calls],
            **inputs,
        )
    return {**created, **(row or {})}


def _flat(names: list[Any]) -> set[str]:
    return {one for each in names for one in (_flat(each) if isinstance(each, list) else [each])}


def _cases(table: str, reported: str) -> dict[str, tuple[Row, set[str]]]:
    return {
        name: (_row(**{key: case[key] for key in case if key != reported}), _flat(case[reported]))
        for name, case in cases("health_rows", table).items()
    }


# Rows with the checks that find something on them, and with those that have nothing to read.
FINDINGS, UNOBSERVED = _cases("found", "finds"), _cases("unobserved", "lacks")
