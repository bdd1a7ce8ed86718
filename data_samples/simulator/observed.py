"""Adds what newer collectors record beside the response, here and there with a planted fault."""

from __future__ import annotations

from collections.abc import Callable

from simulator.episode import Item, final_text
from simulator.office_agent import is_error
from simulator.phrases import generator
from simulator.response import ModelCall
from simulator.rows import Rollout


def observe(rollout: Rollout) -> None:
    """Add ng_trajectory, ng_perf and ng_model_call_capture, all in agreement with the row."""
    row, calls = rollout.row, rollout.calls
    task_id = str(row["_ng_task_index"])
    rollout_id = f"{task_id}-{row['_ng_rollout_index']}"
    references = [{"model_call_id": call.call_id} for call in calls]
    invocation = {
        "kind": "agent_invocation",
        "invocation_id": "root",
        "status": "incomplete" if row["response"]["status"] == "incomplete" else "completed",
    }
    row["ng_trajectory"] = {
        "schema_version": "1.0",
        "task_id": task_id,
        "rollout_id": rollout_id,
        "invocations": [invocation],
        "turns": [_turn(rollout, task_id, rollout_id, references)],
        "model_calls": [_trajectory_call(call, row) for call in calls],
        "tool_calls": _tool_calls(row["response"]["output"]),
        "gaps": [],
    }
    row["ng_perf"] = _perf(rollout)
    row["ng_model_call_capture"] = _capture(rollout, rollout_id)


def _turn(rollout: Rollout, task_id: str, rollout_id: str, references: list[Item]) -> Item:
    items = rollout.row["response"]["output"]
    thoughts = [item["summary"][0]["text"] for item in items if item["type"] == "reasoning"]
    return {
        "invocation_id": "root",
        "task_id": task_id,
        "rollout_id": rollout_id,
        "turn_no": 1,
        "timestamp": rollout.calls[0].started_at,
        "answer": final_text(items) or None,
        "reasoning_content": " ".join(thoughts) or None,
        "step_count": len(references),
        "model_calls": references,
    }


def _trajectory_call(call: ModelCall, row: Item) -> Item:
    is_cut = call.finish_reason == "length"
    # Payloads are left out, except where only they show why a call was cut.
    payload = {"response": {"output": row["response"]["output"][-1:]}} if is_cut else {}
    return payload | {
        "model_call_id": call.call_id,
        "started_at": call.started_at,
        "completed_at": call.completed_at,
        "response_metadata": {
            "response_id": call.response_id,
            "status_code": 200,
            "response_status": "incomplete" if is_cut else "completed",
            "finish_reason": call.finish_reason,
        },
        "token_stats": {
            "prompt_tokens": call.tokens_in,
            "completion_tokens": call.tokens_out,
        },
    }


def _tool_calls(items: list[Item]) -> list[Item]:
    failed = [item["call_id"] for item in items if is_error(item)]
    return [
        {
            "kind": "tool_call",
            "invocation_id": "root",
            "tool_call_id": item["call_id"],
            "tool_name": item["name"],
            "status": "failed" if item["call_id"] in failed else "completed",
        }
        for item in items
        if item["type"] == "function_call"
    ]


def _latency_ms(calls: list[ModelCall]) -> float:
    return round(1000 * sum(call.completed_at - call.started_at for call in calls), 1)


def _perf(rollout: Rollout) -> Item:
    calls = rollout.calls
    return {
        "num_turns": 1,
        "num_tool_calls": len(_tool_calls(rollout.row["response"]["output"])),
        "prompt_tokens": sum(call.tokens_in for call in calls),
        "completion_tokens": sum(call.tokens_out for call in calls),
        "reasoning_tokens": sum(call.tokens_reasoning for call in calls),
        "total_latency_ms": _latency_ms(calls),
    }


def _capture(rollout: Rollout, rollout_id: str) -> Item:
    calls = rollout.calls
    return {
        "rollout_id": rollout_id,
        "metrics": {
            "tokens_in": sum(call.tokens_in for call in calls),
            "tokens_out": sum(call.tokens_out for call in calls),
            "tokens_reasoning": sum(call.tokens_reasoning for call in calls),
            "cached_tokens": 0,
            "latency_total_ms": _latency_ms(calls),
            "num_calls": len(calls),
        },
        "calls": [{"model_call_id": call.call_id, "status_code": 200} for call in calls],
        "gaps": [],
    }


def _failed_call(trajectory: Item) -> None:
    metadata = trajectory["model_calls"][-1]["response_metadata"]
    metadata |= {"status_code": 502, "error_category": "upstream", "response_status": "failed"}


def _missing_tokens(trajectory: Item) -> None:
    trajectory["model_calls"][0]["token_stats"]["completion_tokens"] = None


def _unknown_reference(trajectory: Item) -> None:
    trajectory["turns"][0]["model_calls"] = [{"model_call_id": "mc_of_another_run"}]


def _other_count(trajectory: Item) -> None:
    trajectory["model_calls"][0]["token_stats"]["prompt_tokens"] += 1000


def _hollow(trajectory: Item) -> None:
    trajectory["turns"][0] |= {"answer": None, "reasoning_content": None}
    trajectory["tool_calls"] = []


def _runaway(trajectory: Item) -> None:
    call = trajectory["model_calls"][-1]
    call["response"] = {"output": []}
    call["response_metadata"]["finish_reason"] = "length"


# What is done to a trajectory, and the health checks that should then speak up.
FAULTS: tuple[tuple[Callable[[Item], None], list[str]], ...] = (
    (_failed_call, ["model_call_failed", "rollout_ended_on_failed_model_call"]),
    (_missing_tokens, ["model_call_missing_token_counts"]),
    (_unknown_reference, ["trajectory_capture_mismatch"]),
    (_other_count, ["rollout_token_count_mismatch"]),
    (_hollow, ["agent_turn_hollow"]),
    (_runaway, ["model_call_runaway_generation"]),
)


def plant_faults(seed: int, run: str, rollouts: list[Rollout]) -> list[Item]:
    """Spoil the trajectory of one sound rollout for each fault; list these and the hollow ones."""
    rng = generator("faults", seed, run)
    hollow = [done for done in rollouts if not _acts(done.row["response"]["output"])]
    sound = [done for done in rollouts if _acts(done.row["response"]["output"])]
    planted = [_finding(run, done, ["agent_turn_hollow"]) for done in hollow]
    chosen = rng.sample(sound, k=min(len(FAULTS), len(sound)))
    for done, (spoil, checks) in zip(chosen, FAULTS, strict=False):
        spoil(done.row["ng_trajectory"])
        planted.append(_finding(run, done, checks))
    return planted


def _acts(items: list[Item]) -> bool:
    return bool(final_text(items)) or any(item["type"] != "message" for item in items)


def _finding(run: str, done: Rollout, checks: list[str]) -> Item:
    row = done.row
    return {
        "run": run,
        "_ng_task_index": row["_ng_task_index"],
        "_ng_rollout_index": row["_ng_rollout_index"],
        "checks": checks,
    }
