"""EvalPlus: the solutions of each task, by base tests and extra ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.artifact import Kind
from pipeline.ingest import discover
from pipeline.ingest.formats import Reject, Row, evalplus


def solution(base: str | None, plus: str | None, **more: Any) -> dict[str, Any]:
    """One solution as EvalPlus records it."""
    tests = {"base_fail_tests": [], "plus_fail_tests": []}
    return {"solution": "def f(): ...", "base_status": base, "plus_status": plus, **tests, **more}


RESULTS = {
    "date": "2024-07-03 18:04",
    "hash": "84f4",
    "eval": {
        "HumanEval/0": [solution("pass", "pass"), solution("pass", "fail", plus_fail_tests=[[1]])],
        "HumanEval/1": [solution("timeout", "fail", base_fail_tests=[[1], [2]])],
        "HumanEval/2": [solution("fail", "pass"), solution("pass", None), solution(None, None)],
    },
}


@pytest.mark.parametrize(
    ("name", "run"),
    [("plans/self/eval_results.json", "self"), ("plans/m_temp_0_eval_results.json", "m_temp_0")],
)
def test_solutions(tmp_path: Path, name: str, run: str) -> None:
    """A solution passes with both kinds of tests; without extra ones the base tests decide."""
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(RESULTS))
    (artifact,) = (one for one in discover.artifacts((tmp_path,)) if one.kind is Kind.ROLLOUTS)
    assert (artifact.format, artifact.run_name) == ("evalplus", run)
    entries = list(evalplus.read(artifact))
    rows = [one.value for one in entries if isinstance(one, Row)]
    assert sum(isinstance(one, Reject) for one in entries) == 1
    read = [(row["_ng_task_index"], row["_ng_rollout_index"], row["reward"]) for row in rows]
    assert read == [
        ("HumanEval/0", 0, 1),
        ("HumanEval/0", 1, 0),
        ("HumanEval/1", 0, 0),
        ("HumanEval/2", 0, 0),
        ("HumanEval/2", 1, 1),
    ]
    assert [row["n_base_fail_tests"] for row in rows if "n_base_fail_tests" in row] == [2]
    assert rows[1]["scores"] == [{"name": "base", "score": 1}]
    reasons = [row["score"][0].get("explanation") for row in rows]
    first, one_of_two = "fails on input [1]", "fails on input [1], the first of 2 such inputs"
    assert reasons == [None, first, one_of_two, None, None]


def test_lists_of_older_versions(tmp_path: Path) -> None:
    """A task has a list of each kind of test; its answers are the samples, in their order."""
    tasks = {
        "HumanEval/0": {
            "nfiles": 3,
            "base": [["success", [1, 1]], ["success", [1, 1]], ["failed", []]],
            "plus": [["success", [1]], ["failed", [1]], ["failed", []]],
        },
        "HumanEval/1": {"nfiles": 1, "base": [["success", [1]]], "plus": []},
    }
    results = {"date": "2024-01-29 14:47", "hash": "84f4", "eval": tasks}
    (tmp_path / "m_samples_eval_results.json").write_text(json.dumps(results))
    samples = [("HumanEval/0", "a"), ("HumanEval/1", "b"), ("HumanEval/0", "c")]
    lines = [json.dumps({"task_id": task, "completion": answer}) for task, answer in samples]
    (tmp_path / "m_samples.jsonl").write_text("\n".join(lines))
    artifacts = {one.name: one for one in discover.artifacts((tmp_path,))}
    assert [one.kind for one in artifacts.values()] == [Kind.OTHER, Kind.ROLLOUTS]
    entries = evalplus.read(artifacts["m_samples_eval_results.json"])
    rows = [one.value for one in entries if isinstance(one, Row)]
    answers = [row["response"]["output"] for row in rows]
    assert [row["reward"] for row in rows] == [1, 0, 0, 1]
    assert [row["base_details"] for row in rows] == [[1], [1], [], [1]]
    assert [one[0]["content"] if one else None for one in answers] == ["a", "c", None, "b"]


def test_results_under_any_name(tmp_path: Path) -> None:
    """What a file holds says what it is; a run is called after its file."""
    solution = {"solution": "x", "base_status": "pass", "plus_status": "pass"}
    for name in ("a_eval_results.json", "b_result.json", "results_2.json"):
        content = {"eval": {"HumanEval/0": [{**solution, "note": name}]}}
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    artifacts = discover.artifacts((tmp_path,))
    assert [(one.kind, one.run_name) for one in artifacts] == [
        (Kind.ROLLOUTS, "a"),
        (Kind.ROLLOUTS, "b_result"),
        (Kind.ROLLOUTS, "results_2"),
    ]
