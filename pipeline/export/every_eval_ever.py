"""Every Eval Ever: each run as a JSON document and a JSONL file of its attempts.

The schema requires a score for every instance, so attempts without one are left out and counted;
`blade analyze` reads the same figures from the written files.
"""

from __future__ import annotations

import hashlib
import json
import math
import uuid
from pathlib import Path
from typing import Any

from .. import __version__
from ..warehouse import Warehouse
from .attempts import Note, Row, Written, attempts, safe, write_json

SCHEMA = "0.3.0"
REFERENCES = (
    "expected_answer ground_truth reference reference_answer target answer gold_answer".split()
)


def every_eval_ever(warehouse: Warehouse, folder: Path, timestamp: int, note: Note) -> Written:
    """Write two files for every run with a score: its attempts, and its results."""
    for run in warehouse.rows("from runs order by run_id"):
        if run["n_scored"]:
            yield from _pair(warehouse, run, folder, str(timestamp))
        if n_unscored := run["n_rollouts"] - run["n_scored"]:
            note(f"{run['run_id']}: {n_unscored} attempts without a score are left out")


def _pair(warehouse: Warehouse, run: Row, folder: Path, timestamp: str) -> Written:
    model = run["model"] or f"unknown/{run['run_id']}"
    organization, _, name = model.rpartition("/")
    places = (run["benchmark"], organization.rpartition("/")[2] or "unknown", name)
    key = json.dumps([run["benchmark"], run["run_id"], model]).encode()
    stem = str(uuid.UUID(bytes=hashlib.sha256(key).digest()[:16], version=4))
    place = "/".join(["data", *map(safe, places), stem])
    samples = f"{place}_samples.jsonl"
    result_id = f"{run['benchmark']}/{run['run_id']}"
    shared = {"schema_version": SCHEMA, "evaluation_id": f"{result_id}/{timestamp}"}
    rewards: list[float] = []
    checksum = hashlib.sha256()
    (folder / samples).parent.mkdir(parents=True, exist_ok=True)
    with (folder / samples).open("wb") as file:
        for attempt in attempts(warehouse, run["run_id"]):
            if not attempt["is_scored"]:
                continue
            rewards.append(attempt["reward"])
            instance = {
                **shared,
                "model_id": model,
                "evaluation_name": run["benchmark"],
                "evaluation_result_id": result_id,
                **_instance(attempt),
            }
            line = (json.dumps(instance, ensure_ascii=False) + "\n").encode()
            checksum.update(line)
            file.write(line)
    yield samples, len(rewards)
    (metrics,) = warehouse.rows("from run_metrics where run_id = ?", run["run_id"])
    document = {
        **shared,
        "retrieved_timestamp": timestamp,
        "source_metadata": {
            "source_name": "blade",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
            "additional_details": {"run_id": run["run_id"], "blade_version": __version__},
        },
        "eval_library": {"name": "unknown", "version": "unknown"},
        "model_info": {
            "name": name,
            "id": model,
            "developer": organization or "unknown",
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": _results(run, metrics, rewards, result_id),
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": samples,
            "hash_algorithm": "sha256",
            "checksum": checksum.hexdigest(),
            "total_rows": len(rewards),
            "additional_details": {"n_unscored": str(run["n_rollouts"] - run["n_scored"])},
        },
    }
    write_json(folder, f"{place}.json", document)
    yield f"{place}.json", 1


def _results(run: Row, metrics: Row, rewards: list[float], result_id: str) -> list[Row]:
    """The mean reward, and pass@1 if it is defined."""
    source = {"dataset_name": run["benchmark"], "source_type": "other"}
    in_range = min(rewards) >= 0 and max(rewards) <= 1
    limits = {"min_score": 0.0 if in_range else None, "max_score": 1.0 if in_range else None}
    mean = {
        "evaluation_result_id": result_id,
        "evaluation_name": run["benchmark"],
        "source_data": source,
        "metric_config": {
            "metric_id": "mean_reward",
            "lower_is_better": False,
            "score_type": "continuous",
            **limits,
        },
        "score_details": {
            "score": math.fsum(rewards) / len(rewards),
            "uncertainty": {"num_samples": len(rewards)},
        },
        "generation_config": {"generation_args": _sampling(run)},
    }
    if metrics["pass_at_1"] is None:
        return [mean]
    interval = [metrics[f"pass_at_1_ci_new_tasks_{end}"] for end in ("low", "high")]
    uncertainty: Row = {"num_samples": metrics["n_scored_tasks"]}
    if None not in interval:
        uncertainty["confidence_interval"] = {
            "lower": interval[0],
            "upper": interval[1],
            "confidence_level": 0.95,
        }
    config = {
        "metric_id": "pass_at_1",
        "metric_kind": "pass_rate",
        "metric_unit": "proportion",
        "metric_parameters": {"pass_threshold": run["pass_threshold"]},
        "lower_is_better": False,
        "score_type": "continuous",
        "min_score": 0.0,
        "max_score": 1.0,
    }
    passed = {
        **mean,
        "evaluation_result_id": f"{result_id}/pass_at_1",
        "metric_config": config,
        "score_details": {"score": metrics["pass_at_1"], "uncertainty": uncertainty},
    }
    return [mean, passed]


def _sampling(run: Row) -> Row:
    """The sampling settings that the schema has, if they are numbers."""
    settings = json.loads(run["sampling"] or "{}")
    sampling = {name: settings.get(name) for name in ("temperature", "top_p")}
    known = {name: one for name, one in sampling.items() if isinstance(one, (int, float))}
    tokens = settings.get("max_output_tokens")
    return known | ({"max_tokens": tokens} if isinstance(tokens, int) and tokens > 0 else {})


def _instance(attempt: Row) -> Row:
    verifier = json.loads(attempt["verifier"] or "{}")
    references = [verifier[name] for name in REFERENCES if verifier.get(name) is not None][:1]
    listed = references[0] if references and isinstance(references[0], list) else references
    reference = [one if isinstance(one, str) else json.dumps(one) for one in listed]
    question = attempt["prompt"] or ""
    events = attempt["events"] or []
    is_single = all(
        one["kind"] == "reasoning" or (one["kind"], one["role"]) == ("message", "assistant")
        for one in events
    )
    messages = None if is_single else _messages(attempt, question, events)
    tokens = [attempt["input_tokens"], attempt["output_tokens"]]
    answer = attempt["answer"]
    attribution = {
        "turn_idx": len(messages) - 1 if messages else 0,
        "source": "messages[turn_idx].content" if messages else "output.raw",
        "extracted_value": answer,
        "extraction_method": "unknown",
        "is_terminal": True,
    }
    usage = dict(zip(("input_tokens", "output_tokens"), tokens, strict=True))
    # The schema requires all counts or none.
    lone = {name: str(one) for name, one in usage.items() if one is not None and None in tokens}
    seconds = attempt["duration_s"]
    performance = {"latency_ms": None if seconds is None else seconds * 1000}
    metadata = {"rollout_index": str(attempt["rollout_index"]), **(attempt["slices"] or {})}
    return {
        "sample_id": attempt["task_id"],
        "sample_hash": hashlib.sha256("".join([question, *reference]).encode()).hexdigest(),
        "interaction_type": "single_turn"
        if is_single
        else "agentic"
        if attempt["n_tool_calls"]
        else "multi_turn",
        "input": {"raw": question, "reference": reference},
        "output": _output(events) if is_single else None,
        "messages": messages,
        "answer_attribution": [attribution] if answer is not None else [],
        "evaluation": {
            "score": attempt["reward"],
            "is_correct": bool(attempt["is_pass"]),
            "num_turns": attempt["n_turns"] or None,
            "tool_calls_count": attempt["n_tool_calls"],
        },
        "token_usage": None if None in tokens else usage | {"total_tokens": sum(tokens)},
        "performance": performance | ({"additional_details": lone} if lone else {}),
        "error": None,
        "metadata": {name: str(one) for name, one in metadata.items() if one is not None},
    }


def _output(events: list[Row]) -> Row:
    thoughts = [one["text"] or "" for one in events if one["kind"] == "reasoning"]
    messages = [one["text"] or "" for one in events if one["kind"] == "message"]
    return {"raw": messages, "reasoning_trace": thoughts or None}


def _messages(attempt: Row, prompt: str, events: list[Row]) -> list[Row]:
    question = (("system", attempt["system_prompt"]), ("user", prompt))
    messages = [{"role": role, "content": text} for role, text in question if text]
    messages += map(_message, events)
    return [{"turn_idx": place, **one} for place, one in enumerate(messages)]


def _message(event: Row) -> Row:
    match event["kind"]:
        case "reasoning":
            return {"role": "assistant", "content": None, "reasoning_trace": event["text"]}
        case "tool_call":
            call = {"id": event["call_id"] or "", "name": event["tool"] or ""}
            call["arguments"] = _arguments(event["arguments"])
            return {"role": "assistant", "content": None, "tool_calls": [call]}
        case "tool_result":
            ids = [event["call_id"]] if event["call_id"] else None
            return {"role": "tool", "content": event["text"], "tool_call_id": ids}
    return {"role": event["role"] or "assistant", "content": event["text"]}


def _arguments(text: str | None) -> dict[str, str]:
    """Arguments by name, as texts; a value that is no object is named `arguments`."""
    try:
        arguments: Any = json.loads(text or "{}")
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        return {"arguments": text or ""}
    return {
        name: one if isinstance(one, str) else json.dumps(one) for name, one in arguments.items()
    }
