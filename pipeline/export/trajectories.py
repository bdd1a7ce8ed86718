"""One trajectory per attempt, in the Agent Trajectory Interchange Format (ATIF).

What does not fit into a step is stored in its `extra`, where the reader of blade finds it.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from .. import __version__
from ..text import parsed
from ..warehouse import Warehouse
from .attempts import RUNS, Note, Row, Written, attempts, folder_name, index, write_json

ORDER = {"reasoning": 0, "message": 1, "tool_call": 2, "tool_result": 3}


def atif(warehouse: Warehouse, folder: Path, _timestamp: int, _note: Note) -> Written:
    """Write, per run, a trajectory of every attempt and a manifest in the format of Gym."""
    for run_id in warehouse.column(RUNS):
        place, manifest = folder_name(run_id), []
        for attempt in attempts(warehouse, run_id):
            task, number = attempt["task_id"], attempt["rollout_index"]
            name = f"{folder_name(task)}-{number}.json"
            content = write_json(folder, f"{place}/{name}", _trajectory(attempt))
            line = {"trajectory_path": name, "_ng_task_index": index(task)}
            line |= {"_ng_rollout_index": number}
            manifest.append(line | {"expected_sha256": hashlib.sha256(content).hexdigest()})
            yield f"{place}/{name}", 1
        write_json(folder, f"{place}/manifest.jsonl", *manifest, indent=None)
        yield f"{place}/manifest.jsonl", len(manifest)


def _trajectory(attempt: Row) -> Row:
    task, number = index(attempt["task_id"]), attempt["rollout_index"]
    steps = _steps(attempt)
    metrics = {
        "total_prompt_tokens": attempt["input_tokens"],
        "total_completion_tokens": attempt["output_tokens"],
        "total_cost_usd": attempt["cost"],
        "total_steps": len(steps),
    }
    # The format requires a name and a version of the agent.
    agent = {"name": attempt["agent"] or "unknown", "version": "unknown"}
    agent |= {"model_name": attempt["model"]} if attempt["model"] else {}
    source = {"task_index" if isinstance(task, int) else "task_id": task, "rollout_index": number}
    return {
        "schema_version": "ATIF-v1.7",
        "session_id": attempt["run_id"],
        "trajectory_id": f"{attempt['run_id']}:{task}:{number}",
        "agent": agent,
        "steps": steps,
        "final_metrics": {name: event for name, event in metrics.items() if event is not None},
        "extra": {
            "nemo_gym": {"exporter": {"name": "blade", "version": __version__}, "source": source}
        },
    }


def _steps(attempt: Row) -> list[Row]:
    """The question, then steps whose parts are in the order of the events."""
    steps: list[Row] = []
    last = len(ORDER)

    def step(source: str, message: str = "") -> Row:
        steps.append({"step_id": len(steps) + 1, "source": source, "message": message})
        return steps[-1]

    def without_events() -> Row:
        """A step that the format asks for; without `extra` it would be read as an empty answer."""
        step("agent")["extra"] = {"blade": {"items": []}}
        return steps[-1]

    for source, words in (("system", attempt["system_prompt"]), ("user", attempt["prompt"])):
        if words:
            step(source, words)
    n_question_steps = len(steps)
    for event in attempt["events"] or []:
        kind, words = event["kind"], event["text"] or ""
        if kind == "message" and event["role"] not in (None, "assistant") and words:
            if len(steps) == n_question_steps:
                without_events()  # messages before the first step would be part of the question
            step("user" if event["role"] == "user" else "system", words)
            last = len(ORDER)
            continue
        is_item = kind not in ORDER or (kind in ("reasoning", "message") and not words)
        place = -1 if is_item else ORDER[kind]
        is_next = len(steps) == n_question_steps or place < last or (place == last and place < 2)
        # The reader would assign a result without a call to a call of the same step.
        if is_next or (place == 3 and not event["call_id"] and "tool_calls" in steps[-1]):
            step("agent")
        current, last = steps[-1], place
        if is_item:
            current.setdefault("extra", {"blade": {"items": []}})["blade"]["items"].append(
                _item(event)
            )
        elif kind == "reasoning":
            current["reasoning_content"] = words
        elif kind == "message":
            current["message"] = words
        elif kind == "tool_call":
            current.setdefault("tool_calls", []).append(_call(event))
        else:
            ids = {call["tool_call_id"] for call in current.get("tool_calls", [])}
            result: Row = {"content": words}
            extra = {"name": event["tool"], "source_call_id": event["call_id"]}
            if event["call_id"] in ids:
                result["source_call_id"] = extra.pop("source_call_id")
            if any(extra.values()):
                result["extra"] = {"blade": {key: value for key, value in extra.items() if value}}
            current.setdefault("observation", {"results": []})["results"].append(result)
    return steps or [without_events()]


def _call(event: Row) -> Row:
    """A call; arguments that JSON would change are also stored as text."""
    written = event["arguments"] or ""
    arguments = parsed(written)
    call: Row = {"tool_call_id": event["call_id"] or "", "function_name": event["tool"] or ""}
    call["arguments"] = arguments if isinstance(arguments, dict) else {}
    if json.dumps(call["arguments"], ensure_ascii=False) != written:
        call["extra"] = {"blade": {"arguments": written}}
    return call


def _item(event: Row) -> Any:
    if event["kind"] == "other":
        try:
            return json.loads(event["text"] or "{}")
        except (ValueError, RecursionError):
            return {"type": "other", "text": event["text"]}
    content = {"type": event["kind"], "content": event["text"], "role": event["role"]}
    return {name: value for name, value in content.items() if value is not None}
