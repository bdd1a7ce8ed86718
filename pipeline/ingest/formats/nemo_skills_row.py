"""A row of NeMo-Skills: what was asked and generated, and its scores by their published names.

What was scored, and how, follows from the fields that a benchmark's rows have.
"""

from __future__ import annotations

import re
from typing import Any

from pipeline.ingest.formats import fields, get, items, message, number, scores_of, text, told

ASKED = ("problem", "question", "prompt", "instruction")
# What stands elsewhere in a row of ours; all else is of the dataset.
USED = {
    *ASKED,
    *"generation predicted_answer expected_answer judgement num_input_tokens".split(),
    *"num_generated_tokens num_reasoning_tokens generation_start_time generation_end_time".split(),
    *"generation_time finish_reason reward_model_score strict_eval loose_eval".split(),
    *"swe-bench-metrics proof_status error symbolic_correct is_correct is_correct-plus".split(),
    *"graded_list expected_judgement instruction_id_list passed deep-swe-metrics".split(),
    "eval_status",
}
VERDICT = re.compile(r"judgement\*{0,2}\s*:[\s*]*(yes|no)?", re.IGNORECASE)
# What judges of questions with one short answer say, in place of yes and no.
GRADES = {"a": "judge_correct", "b": "judge_incorrect", "c": "judge_partially_correct"}
PARTS = ("reward", "f2p", "p2p", "partial")
STATES = ("pass", "fail", "timeout", "error")


def row_of(row: dict[str, Any], task: int, repeat: int) -> dict[str, Any]:
    """A line of an output as a row of ours."""
    scores = _scores(row)
    asked = next((_words(row[name]) for name in ASKED if row.get(name)), None)
    usage = {
        "input_tokens": row.get("num_input_tokens"),
        "output_tokens": row.get("num_generated_tokens"),
        "reasoning_tokens": row.get("num_reasoning_tokens"),
    }
    # What a judge says is the answer itself where judging is the task.
    is_judging = "expected_judgement" in row
    said = row.get("generation", row.get("judgement") if is_judging else None)
    output = {"output": [message(said)]} if isinstance(said, str) else {"object": "response"}
    verdict = {True: "yes", False: "no", None: None}[_verdict(row.get("judgement"))]
    answer = verdict if is_judging else row.get("predicted_answer")
    is_answered = answer is not None
    empty = {
        "no_answer": not is_answered if "predicted_answer" in row else None,
        "invalid_judgements": not is_answered if is_judging else None,
    }
    value = {
        "_ng_task_index": task,
        "_ng_rollout_index": repeat,
        "responses_create_params": {"input": [message(asked, "user")]} if asked else None,
        "response": output | told({"usage": told(usage)}),
        **scores_of(scores, scores[0]["name"] if scores else None),
        "extracted_answer": text(answer),
        **empty,
        **{name: row.get(name) for name in ("expected_answer", "expected_judgement", "error")},
        "judgement": row.get("judgement") if not is_judging else None,
        # Not under its own name: it grades an answer, it does not fail it.
        "reward_model": told({"estimate": row.get("reward_model_score")}),
        "strict_eval": _instructions(row.get("strict_eval")),
        "swe-bench-metrics": _solved(row),
        "eval_status": _subtasks(row),
        "proof_status": text(row.get("proof_status")),
        "finish_reason": text(row.get("finish_reason")),
        "total_run_time": _seconds(row),
        "metadata": {name: given for name, given in row.items() if name not in USED},
    }
    return {**told(value), "reward": scores[0]["score"] if scores else None}


def _instructions(given: Any) -> dict[str, Any]:
    """The verdict of each instruction; that of all together is a score."""
    return {name: one for name, one in fields(given).items() if isinstance(one, list)}


def _words(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    said = [text(get(part, "content")) for part in items(value)]
    return "\n\n".join(part for part in said if part) or None


def _seconds(row: dict[str, Any]) -> float | None:
    start, end = number(row.get("generation_start_time")), number(row.get("generation_end_time"))
    taken = number(row.get("generation_time"))
    if taken is None and start is not None and end is not None and end >= start:
        return end - start
    return taken


def _verdict(judgement: Any) -> bool | None:
    """What a judge said, where it said it in the form that was asked for."""
    if not isinstance(judgement, str):
        return None
    if (grade := judgement.strip().lower()) in (*GRADES, "d"):
        return grade == "a"
    found = VERDICT.search(judgement)
    return found[1].lower() == "yes" if found and found[1] else None


def _solved(row: dict[str, Any]) -> dict[str, Any]:
    """What became of a patch."""
    return fields(row.get("swe-bench-metrics")) or fields(row.get("deep-swe-metrics"))


def _subtasks(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of a problem, each of which is a program that ran or not."""
    states = [text(get(one, "process_status")) for one in items(row.get("eval_status"))]
    return [
        {"name": f"subtask {place}", "passed": state == "completed"}
        for place, state in enumerate(states, start=1)
        if state
    ]


def _accuracy(row: dict[str, Any]) -> Any:
    """Whether a program passed its tests, or how right an answer is, by whatever name."""
    state = row.get("status")
    said = get(row, "graded_list", 0), row.get("passed"), row.get("is_correct")
    by_state = state == "pass" if state in STATES else None
    return next((one for one in (*said, by_state) if one is not None), None)


def _scores(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Every score of the row by its published name, the one that is the reward first."""
    found: dict[str, Any] = {}
    if "expected_judgement" in row:
        wanted = _verdict(row["expected_judgement"])
        found["correct_judgements"] = _verdict(row.get("judgement")) == wanted
    else:
        has_answer = "predicted_answer" in row
        found["symbolic_correct"] = row.get(
            "symbolic_correct", row.get("is_correct") if has_answer else None
        )
        if isinstance(row.get("judgement"), str):
            found["judge_correct"] = _verdict(row["judgement"]) is True
            grade = GRADES.get(row["judgement"].strip().lower())
            found |= {name: name == grade for name in GRADES.values() if grade}
            both = found["symbolic_correct"], found["judge_correct"]
            if isinstance(both[0], bool):
                found |= {"both_correct": all(both), "any_correct": any(both)}
    if "is_correct-plus" in row:
        found["passing_base_tests"] = row.get("is_correct")
        found["passing_plus_tests"] = row["is_correct-plus"]
    elif "predicted_answer" not in row:
        found["accuracy"] = _accuracy(row)
    if isinstance(row.get("proof_status"), str):
        found["lean4_correct"] = row["proof_status"] == "completed"
    for kind in ("strict", "loose"):
        found[f"prompt_{kind}_accuracy"] = get(row, f"{kind}_eval", "follow_all_instructions")
    found["issues_resolved"] = _solved(row).get("resolved")
    found |= {name: get(row, "deep-swe-metrics", name) for name in PARTS}
    if subtasks := _subtasks(row):
        found["problem_accuracy"] = all(one["passed"] for one in subtasks)
    known = {name: number(value) for name, value in found.items()}
    return [{"name": name, "score": score} for name, score in known.items() if score is not None]
