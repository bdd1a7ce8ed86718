"""BigCodeBench: the solutions of each task, the errors of their tests, published figures."""

from __future__ import annotations

from typing import Any

from tests.fact_files import facts_of

TRACE = 'Traceback (most recent call last):\n  File "__test__.py", line 7, in {test}\n{error}\n'
HARD = "org--m-8b--main--bigcodebench-hard-complete--vllm-0-1-sanitized_calibrated"
FULL = "org--m-8b--main--bigcodebench-instruct--openai-0.8-2"


def solution(task: str, status: str, details: Any = None) -> dict[str, Any]:
    """One solution as BigCodeBench records it."""
    return {
        "task_id": task,
        "solution": f"# {task}",
        "status": status,
        "details": {} if details is None else details,
    }


def files() -> dict[str, Any]:
    """A run of the hard tasks, and one with two samples of each of all tasks."""
    a, b, c = (f"BigCodeBench/{number}" for number in (1, 2, 3))
    differ = "AssertionError: Lists differ: [1] != [2]\n\n- [1]\n+ [2]\n"
    failing = {
        "test_case_1": TRACE.format(test="test_case_1", error="KeyError: 'Paris'")
        + "\nDuring handling of the above exception, another exception occurred:\n\n"
        + TRACE.format(test="test_case_1", error="ValueError: no city"),
        "test_case_2": TRACE.format(test="test_case_2", error=differ),
    }
    hard = {
        a: [solution(a, "pass")],
        b: [solution(b, "fail", failing)],
        c: [solution(c, "timeout"), {"task_id": c}],
    }
    full = {
        a: [solution(a, "pass"), solution(a, "fail", {"ALL": "No module named 'x'"})],
        b: [solution(b, "fail", "?"), solution(b, "pass")],
    }
    figures = {
        "pass@1": 1 / 3,
        "model": "org--m-8b--main",
        "split": "complete",
        "subset": "hard",
        "calibrated": True,
        "gt_pass_rate": 0.9,
        "failed_tasks": [c],
    }
    return {
        f"{HARD}_eval_results.json": [{"date": "2024-12-25 02:59", "eval": hard}],
        f"{HARD}_pass_at_k.json": [figures],
        f"{HARD}.jsonl": [{"task_id": a, "solution": "a", "raw_solution": "a"}],
        f"{FULL}_eval_results.json": [{"date": "2024-12-25 02:59", "eval": full}],
    }


test_run = facts_of(files(), "bigcodebench")
