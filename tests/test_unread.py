"""Files of formats that are not read are named for what they look like."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.artifact import ListedFile
from pipeline.ingest import unread
from tests.lean import LOADED
from tests.results import analyzed, call, rollout

# What each tool writes, cut down to its first row.
SAMPLES = (
    ("AgentBench", "os-std/runs.jsonl", {"index": 0, "error": None, "output": {}, "time": {}}),
    ("AgentBench", "os-std/overall.json", {"total": 9, "validation": {}, "custom": {}}),
    (
        "AgentDojo",
        "none.json",
        {"pipeline_name": "m", "user_task_id": "user_task_0", "injection_task_id": None},
    ),
    ("AlpacaEval", "annotations.json", [{"output_1": "a", "generator_1": "m", "output_2": "b"}]),
    ("Braintrust", "export.jsonl", {"root_span_id": "r", "span_attributes": {"type": "eval"}}),
    ("DeepEval", "test_run.json", {"testCases": [{"name": "a", "metricsData": []}]}),
    ("Langfuse", "traces.json", [{"projectId": "p", "sessionId": None, "bookmarked": False}]),
    ("LangSmith", "runs_export.jsonl", {"run_type": "chain", "dotted_order": "2024"}),
    ("LiveCodeBench", "eval_all.json", [{"question_title": "a", "code_list": []}]),
    ("MT-Bench", "gpt-4_single.jsonl", {"question_id": 8, "judge": ["gpt-4"], "user_prompt": ""}),
    ("OpenAI evals", "231.jsonl", {"spec": {"completion_fns": ["m"], "eval_name": "coqa"}}),
    ("OpenCompass", "ARC-c.json", {"0": {"origin_prompt": "q", "prediction": "A"}}),
    ("Phoenix", "spans.jsonl", {"attributes": {"openinference.span.kind": "LLM"}}),
    ("Ragas", "scores.csv", "user_input,retrieved_contexts,faithfulness\nq,[],0.5\n"),
    ("simple-evals", "mmlu_m_allresults.json", {"score": 0.5, "metrics": {}, "htmls": []}),
    ("Weave", "calls.jsonl", {"op_name": "weave:///e/p/op/predict:1", "inputs": {}}),
)


@pytest.mark.parametrize(("title", "name", "content"), SAMPLES, ids=[one[1] for one in SAMPLES])
def test_each_is_recognised(tmp_path: Path, title: str, name: str, content: object) -> None:
    """By name and first keys; a file of the same name with other content is not."""
    path = tmp_path / Path(name).name
    written = content if isinstance(content, str) else json.dumps(content)
    path.write_text(written, encoding="utf-8")
    assert unread.reason(ListedFile(path, name)) == f"looks like {title}"
    path.write_text('{"a": 1}', encoding="utf-8")
    assert unread.reason(ListedFile(path, name)) is None


def test_every_declared_format_has_a_sample() -> None:
    """A title without one would never be tried."""
    assert {one[0] for one in unread.declared()} == {title for title, _, _ in SAMPLES}


@pytest.mark.slow
def test_beside_results_they_are_skipped_by_name(tmp_path: Path) -> None:
    """They are in the list of files and in the rejects; rows that quote such keys are rows."""
    title = "LangSmith"
    name, content = next(rest for known, *rest in SAMPLES if known == title)
    row = rollout(0, 0, reward=1, note="run_type dotted_order")
    results = analyzed(tmp_path, {"a_rollouts.jsonl": [row], name: [content]}, needs=LOADED)
    assert results.rows("select path, kind from artifacts order by all") == [
        ("a_rollouts.jsonl", "rollouts"),
        (name, "skipped"),
    ]
    assert results.rows("select source_file, reason from rejects") == [
        (name, f"looks like {title}")
    ]


def test_verdicts_by_name_are_not_passed_over(tmp_path: Path) -> None:
    """A map of ids of tasks to 0 or 1, also one per run; switches of a configuration are none."""
    path = tmp_path / "scored.json"
    verdicts = {f"astropy__astropy-{number}": number % 2 for number in range(12)}
    for written in (verdicts, {"run1": verdicts, "run2": verdicts}):
        path.write_text(json.dumps(written, indent=1), encoding="utf-8")
        reason = unread.reason(ListedFile(path, path.name))
        assert reason == "has verdicts by name (0 or 1), of no harness"
    path.write_text(json.dumps(dict.fromkeys(map("use_{}".format, "abcdefghij"), True)))
    assert unread.reason(ListedFile(path, path.name)) is None


def test_alone_the_error_names_them(tmp_path: Path) -> None:
    """Instead of what its columns lack."""
    (tmp_path / "runs.jsonl").write_text(json.dumps(SAMPLES[0][2]), encoding="utf-8")
    outcome = call("analyze", tmp_path, "--out", tmp_path / "out")
    assert outcome.code == 3
    assert "it looks like AgentBench, not read" in outcome.stderr
