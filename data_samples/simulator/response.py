"""Wraps an episode into a Responses object: identity, timing, usage, status."""

from __future__ import annotations

import random
from dataclasses import dataclass

from simulator.episode import Episode, Item, Task
from simulator.phrases import dumps, hex_id

TEMPERATURE = 1.0
TOP_P = 0.95
MAX_OUTPUT_TOKENS = 1024
# 2025-03-01; every run starts some days after it.
EPOCH = 1_740_787_200


@dataclass(frozen=True)
class ModelCall:
    """One request to the model: what it read, wrote and took."""

    call_id: str
    response_id: str
    started_at: float
    completed_at: float
    tokens_in: int
    tokens_out: int
    tokens_reasoning: int
    finish_reason: str


def request(task: Task) -> Item:
    """The request as a rollout holds it, its defaults spelled out."""
    messages = [
        {"content": m["content"], "role": m["role"], "type": "message"} for m in task.messages
    ]
    return {
        "input": messages,
        "max_output_tokens": MAX_OUTPUT_TOKENS,
        "parallel_tool_calls": False,
        "temperature": TEMPERATURE,
        "tool_choice": "auto",
        "tools": task.tools,
        "top_p": TOP_P,
    }


def model_calls(rng: random.Random, task: Task, episode: Episode, start: float) -> list[ModelCall]:
    """Cut the items where a tool answered: each stretch the model wrote is one call."""
    context = len(dumps(task.messages)) + len(dumps(task.tools))
    stretches: list[list[Item]] = [[]]
    for item in episode.items:
        if item["type"] == "function_call_output":
            stretches.append([])
        else:
            stretches[-1].append(item)
    if not stretches[-1] and len(stretches) > 1:
        stretches.pop()
    calls = []
    clock = start
    for number, stretch in enumerate(stretches):
        is_last_and_cut = episode.is_cut and number == len(stretches) - 1
        call = _model_call(rng, stretch, context // 4, clock, is_cut=is_last_and_cut)
        calls.append(call)
        clock = call.completed_at + round(rng.uniform(0.05, 0.6), 3)
        context += len(dumps(stretch)) + 400
    return calls


def _model_call(
    rng: random.Random, stretch: list[Item], tokens_in: int, start: float, *, is_cut: bool
) -> ModelCall:
    text = sum(len(_written(item)) for item in stretch)
    reasoning = sum(len(_written(item)) for item in stretch if item["type"] == "reasoning") // 4
    tokens_out = MAX_OUTPUT_TOKENS if is_cut else text // 4 + rng.randint(3, 12)
    if is_cut:
        # What is not in the visible text was thought, not said.
        reasoning += max(0, MAX_OUTPUT_TOKENS - text // 4)
    is_call = bool(stretch) and stretch[-1]["type"] == "function_call"
    return ModelCall(
        call_id=hex_id(rng, "mc_", 8),
        response_id=hex_id(rng, "resp_", 12),
        started_at=round(float(start), 3),
        completed_at=round(start + 0.4 + tokens_out / rng.uniform(60, 110), 3),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        tokens_reasoning=min(reasoning, tokens_out),
        finish_reason="length" if is_cut else "tool_calls" if is_call else "stop",
    )


def _written(item: Item) -> str:
    if item["type"] == "function_call":
        return str(item["name"]) + str(item["arguments"])
    if item["type"] == "reasoning":
        return str(item["summary"][0]["text"])
    return str(item["content"][0]["text"])


def usage(calls: list[ModelCall]) -> Item:
    tokens_in = sum(call.tokens_in for call in calls)
    tokens_out = sum(call.tokens_out for call in calls)
    return {
        "input_tokens": tokens_in,
        "output_tokens": tokens_out,
        "output_tokens_details": {"reasoning_tokens": sum(c.tokens_reasoning for c in calls)},
        "total_tokens": tokens_in + tokens_out,
    }


def response(model: str, episode: Episode, calls: list[ModelCall]) -> Item:
    return {
        "id": calls[-1].response_id,
        "created_at": calls[0].started_at,
        "completed_at": calls[-1].completed_at,
        "incomplete_details": {"reason": "max_output_tokens"} if episode.is_cut else None,
        "model": model,
        "object": "response",
        "output": episode.items,
        "temperature": TEMPERATURE,
        "tools": [],
        "top_p": TOP_P,
        "status": "incomplete" if episode.is_cut else "completed",
        "usage": usage(calls),
    }
