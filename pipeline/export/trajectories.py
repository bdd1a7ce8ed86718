"""A trajectory per attempt, in the Agent Trajectory Interchange Format (ATIF).

What a step has no place for is kept in its `extra`, where our own reader finds it.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from pipeline import __version__
from pipeline.export.attempts import Note, Row, Written, attempts, index, safe, write_json
from pipeline.text import parsed
from pipeline.warehouse import Warehouse

ORDER = {"reasoning": 0, "message": 1, "tool_call": 2, "tool_result": 3}


def atif(warehouse: Warehouse, folder: Path, _timestamp: int, _note: Note) -> Written:
    """Per run a trajectory of every attempt, and the manifest of Gym's own export."""
    for run_id in warehouse.column("select run_id from runs order by run_id"):
        place, manifest = safe(run_id), []
        for attempt in attempts(warehouse, run_id):
            task, number = attempt["task_id"], attempt["rollout_index"]
            # Two names may be one when made safe.
            mark = "" if safe(task) == task else f"-{hashlib.sha256(task.encode()).hexdigest()[:8]}"
            name = f"{safe(task)}{mark}-{number}.json"
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
    # The format asks for a name and a version of the agent.
    agent = {"name": attempt["agent"] or "unknown", "version": "unknown"}
    agent |= {"model_name": attempt["model"]} if attempt["model"] else {}
    source = {"task_index" if isinstance(task, int) else "task_id": task, "rollout_index": number}
    return {
        "schema_version": "ATIF-v1.7",
        "session_id": attempt["run_id"],
        "trajectory_id": f"{attempt['run_id']}:{task}:{number}",
        "agent": agent,
        "steps": steps,
        "final_metrics": {name: one for name, one in metrics.items() if one is not None},
        "extra": {
            "nemo_gym": {"exporter": {"name": "blade", "version": __version__}, "source": source}
        },
    }


def _steps(attempt: Row) -> list[Row]:
    """The question, then steps whose parts stand in the order of the events."""
    steps: list[Row] = []
    last = len(ORDER)

    def step(source: str, message: str = "") -> Row:
        steps.append({"step_id": len(steps) + 1, "source": source, "message": message})
        return steps[-1]

    for source, words in (("system", attempt["system_prompt"]), ("user", attempt["prompt"])):
        if words:
            step(source, words)
    asked = len(steps)
    for one in attempt["events"] or []:
        kind, words = one["kind"], one["text"] or ""
        if kind == "message" and one["role"] not in (None, "assistant") and words:
            if len(steps) == asked:
                step("agent")  # what comes before the agent is the question
            step("user" if one["role"] == "user" else "system", words)
            last = len(ORDER)
            continue
        is_item = kind not in ORDER or (kind in ("reasoning", "message") and not words)
        place = -1 if is_item else ORDER[kind]
        is_next = len(steps) == asked or place < last or (place == last and place < 2)
        # Of a result that names no call the reader would make one of the step's.
        if is_next or (place == 3 and not one["call_id"] and "tool_calls" in steps[-1]):
            step("agent")
        now, last = steps[-1], place
        if is_item:
            now.setdefault("extra", {"blade": {"items": []}})["blade"]["items"].append(_item(one))
        elif kind == "reasoning":
            now["reasoning_content"] = words
        elif kind == "message":
            now["message"] = words
        elif kind == "tool_call":
            now.setdefault("tool_calls", []).append(_call(one))
        else:
            ids = {call["tool_call_id"] for call in now.get("tool_calls", [])}
            result: Row = {"content": words}
            extra = {"name": one["tool"], "source_call_id": one["call_id"]}
            if one["call_id"] in ids:
                result["source_call_id"] = extra.pop("source_call_id")
            if any(extra.values()):
                result["extra"] = {"blade": {key: given for key, given in extra.items() if given}}
            now.setdefault("observation", {"results": []})["results"].append(result)
    return steps or [step("agent")]


def _call(one: Row) -> Row:
    """A call; arguments that would come back otherwise are kept as they were written, too."""
    written = one["arguments"] or ""
    given = parsed(written)
    call: Row = {"tool_call_id": one["call_id"] or "", "function_name": one["tool"] or ""}
    call["arguments"] = given if isinstance(given, dict) else {}
    if json.dumps(call["arguments"], ensure_ascii=False) != written:
        call["extra"] = {"blade": {"arguments": written}}
    return call


def _item(one: Row) -> Any:
    if one["kind"] == "other":
        try:
            return json.loads(one["text"] or "{}")
        except (ValueError, RecursionError):
            return {"type": "other", "text": one["text"]}
    said = {"type": one["kind"], "content": one["text"], "role": one["role"]}
    return {name: value for name, value in said.items() if value is not None}
