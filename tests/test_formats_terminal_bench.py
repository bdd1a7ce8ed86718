"""Terminal-Bench 1: a run's own file and its trials', null verdicts, published figures."""

from __future__ import annotations

from typing import Any

from tests.case_files import filled
from tests.fact_files import facts_of
from tests.lean import RECORDED
from tests.results import Row

NEEDS = (*RECORDED, "checks")


def trial(task: str, nth: int, verdict: Any, **more: Any) -> Row:
    """What a trial says of itself."""
    return {
        **filled("formats", "terminal_bench_trial", task=task, nth=nth, verdict=verdict),
        **more,
    }


def files() -> dict[str, Any]:
    """Two tasks twice; the last trial is in its own file alone, another one in both."""
    tests = {"test_a": "passed", "test_b": "failed"}
    listed = [
        trial("b", 2, False, parser_results=tests, failure_mode="agent_timeout"),
        trial("a", 1, True),
        trial("a", 2, None, total_input_tokens=None, total_output_tokens=None),
        {"id": "?"},
    ]
    figures = {"accuracy": 1 / 3, "pass_at_k": {"2": 0.5}}
    about = {
        "model_name": "org/m",
        "agent_name": "terminus",
        "dataset_name": "core",
        "dataset_version": "0.1",
        "n_attempts": 2,
        "task_ids": ["a", "b", "c"],
        **figures,
    }
    whole = [trial("a", 1, True), trial("a", 2, None), trial("b", 1, False), trial("b", 2, True)]
    return {
        # A run's file by itself.
        "my-run/results.json": [{"results": whole, "accuracy": 0.5, "pass_at_k": {"2": 1.0}}],
        "runs/r1/results.json": [{"results": listed, **figures}],
        "runs/r1/run_metadata.json": [about],
        "runs/r1/a/a.1-of-2.r1/results.json": [trial("a", 1, True)],
        "runs/r1/a/a.1-of-2.r1/agent-logs/rollouts.jsonl": '{"reward": 1}\n',
        "runs/r1/b/b.1-of-2.r1/results.json": [trial("b", 1, True)],
        "runs/r2/a/a.1-of-2.r2/results.json": '{"trial_name": "a.1-of-2.r2", "is_resol',
        "runs/r3/results.json": '{"results": [{"trial_name": "x", "is_resolved": tr',
    }


test_run = facts_of(files(), "terminal_bench", needs=NEEDS)


def part(task: str, folder: str = "", *, is_passed: bool = True, **more: Any) -> dict[str, Any]:
    """The files of a run of one task, started by itself."""
    about = {
        "run_id": f"of-{task}",
        "agent_name": "terminus",
        "model_name": "org/m",
        "dataset_name": None,
        "dataset_path": "/home/u/my-bench/tasks",
        "task_ids": [task],
        "accuracy": float(is_passed),
        **more,
    }
    results = {"results": [trial(task, 1, is_passed)], "accuracy": float(is_passed)}
    run = f"{task}/{folder}m"
    return {f"{run}/run_metadata.json": [about], f"{run}/results.json": [results]}


def started_once_per_task() -> dict[str, Any]:
    """Two tasks of one run, another commit, and two starts of one task, which are repeats."""
    again = part("e", "x/", agent_name="other") | part(
        "e", "y/", agent_name="other", is_passed=False
    )
    other = part("f", agent_name="other")
    return part("a") | part("b") | part("c", commit_hash="1") | again | other


test_a_run_per_task = facts_of(
    started_once_per_task(), "terminal_bench_parts", needs=[*NEEDS, "expected", "reported_metrics"]
)
