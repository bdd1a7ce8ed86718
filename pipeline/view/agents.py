"""Agents that a harness observed, each below the one that started it, and what its turns cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..text import parsed
from .opened import Row

SECONDS = ("duration_ms", "latency_ms", "latency_total_ms")
MOST_AGENTS = 200
MOST_TURNS = 500


def agents(trajectory: str | None) -> list[Row]:
    """The agents that no other started, each with its turns and the agents that it started."""
    document = parsed(trajectory) if trajectory else None
    if not isinstance(document, dict):
        return []
    calls = {str(call.get("model_call_id")): call for call in _entries(document, "model_calls")}
    turns: dict[str, list[Row]] = {}
    for turn in _entries(document, "turns")[:MOST_TURNS]:
        own = [calls.get(str(each.get("model_call_id"))) for each in _entries(turn, "model_calls")]
        costs = [_cost(call or {}) for call in own] or [_cost(turn)]
        turns.setdefault(str(turn.get("invocation_id")), []).append(_total(costs))
    invocations = _entries(document, "invocations")[:MOST_AGENTS]
    rows = {}
    for invocation in invocations:
        name = str(invocation.get("invocation_id"))
        own_turns = turns.get(name, [])
        rows[name] = {
            "name": str(invocation.get("agent_name") or invocation.get("name") or name),
            "turns": own_turns,
            **_total(own_turns),
            "seconds": _cost(invocation)["seconds"],
            "started": [],
        }
    roots: list[Row] = []
    parents = {
        str(each.get("invocation_id")): str(each.get("parent_invocation_id"))
        for each in invocations
    }
    for invocation in invocations:
        name, parent = (
            str(invocation.get(key)) for key in ("invocation_id", "parent_invocation_id")
        )
        # An agent of a circle, or of one that is not recorded, was started by nobody we know.
        is_known = parent in rows and not _is_below(parent, name, parents)
        (rows[parent]["started"] if is_known else roots).append(rows[name])
    return roots


def costs_by_turn(roots: list[Row], n_turns: int | None) -> dict[int, Row]:
    """The cost of each turn of a transcript: where one agent has as many turns as it."""
    turns = roots[0]["turns"] if len(roots) == 1 else []
    return dict(enumerate(turns, start=1)) if len(turns) == n_turns else {}


def _is_below(name: str, other: str, parents: Mapping[str, str]) -> bool:
    """Whether an agent is another one, or was started by it, directly or not."""
    for _ in parents:
        if name == other:
            return True
        name = parents.get(name, "")
    return False


def _entries(document: Mapping[str, Any], name: str) -> list[Row]:
    listed = document.get(name)
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def _cost(entry: Mapping[str, Any]) -> Row:
    """Tokens and seconds as recorded; None where they are not."""
    stats = entry.get("token_stats")
    tokens = stats if isinstance(stats, dict) else {}
    spent = next((each for name in SECONDS if (each := _number(entry.get(name))) is not None), None)
    return {
        "input_tokens": _number(tokens.get("prompt_tokens")),
        "output_tokens": _number(tokens.get("completion_tokens")),
        "seconds": None if spent is None else spent / 1000,
    }


def _total(costs: list[Row]) -> Row:
    """Sums; None where one of them is not recorded, or there is none."""
    return {
        name: sum(each[name] for each in costs)
        if costs and all(each[name] is not None for each in costs)
        else None
        for name in ("input_tokens", "output_tokens", "seconds")
    }


def _number(value: Any) -> float | int | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number and 0 <= value < 1e15 else None
