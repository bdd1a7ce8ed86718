"""What rows of Gym record besides a reward: masks, skipped checks, caps, observations, totals."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.fact_files import Fact, facts
from tests.lean import CHECKED
from tests.results import Results, Row, analyzed, call, called, rollout

NEEDS = (*CHECKED, "health_findings", "events")


def bare(task: int, **fields: Any) -> Row:
    """A row without a reward."""
    row = rollout(task, 0, reward=0.0, **fields)
    return {name: value for name, value in row.items() if name != "reward"}


def capped(task: int, **response: Any) -> Row:
    """A row whose response says how it ended."""
    row = rollout(task, 0, reward=0.0)
    return {**row, "response": {**row["response"], **response}}


def tool(name: str, **hints: bool) -> Row:
    """A definition of a tool, with hints as MCP has them."""
    return {"type": "function", "name": name, "annotations": hints}


def observed(task: int, records: list[Row], **fields: Any) -> Row:
    """A row with what the harness saw from outside, and two calls of a tool."""
    row = rollout(task, 0, reward=0.0)
    calls = [
        {"type": "function_call", "name": "bash", "arguments": "{}", "call_id": call_id}
        for call_id in ("c1", "c2")
    ]
    return {
        **row,
        "response": {**row["response"], "output": calls},
        "ng_agent_observations": {"source": "x", "records": records, "gaps": []},
        **fields,
    }


RECORDS: list[Row] = [
    {"kind": "agent_invocation", "invocation_id": "root", "duration_ms": 90_000},
    {"kind": "agent_invocation", "invocation_id": "a", "parent_invocation_id": "root"},
    {"kind": "agent_invocation", "invocation_id": "b", "parent_invocation_id": "a"},
    {"kind": "tool_call", "invocation_id": "root", "tool_call_id": "c1", "status": "timeout"},
    {
        "kind": "tool_call",
        "invocation_id": "root",
        "tool_call_id": "c2",
        "status": "completed",
        "duration_ms": 1500,
    },
    {"kind": "context_compaction", "invocation_id": "root", "outcome": "completed"},
    {"kind": "sandbox", "role": "agent", "outcome": "oom", "exit_code": 137},
    {"kind": "sandbox", "role": "verifier", "outcome": "completed"},
]
TRAJECTORY = {
    "invocations": [{"invocation_id": "r"}, {"invocation_id": "s", "parent_invocation_id": "r"}],
    "tool_calls": [{"invocation_id": "r", "tool_call_id": "c1", "status": "timeout"}],
    "turns": [],
    "model_calls": [],
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A file for each kind of fact."""
    masked = [
        rollout(1, 0, reward=1.0, mask_sample=False),
        rollout(1, 1, reward=0.0, mask_sample=True),
        rollout(2, 0, reward=0.0, instance_config={"mask_sample": True}),
        rollout(3, 0, reward=0.0),
    ]
    hinted = rollout(1, 0, reward=1.0)
    hinted["responses_create_params"]["tools"] = [
        tool("send", readOnlyHint=False),
        tool("look", readOnlyHint=True, destructiveHint=True),
        tool("delete", destructiveHint=True),
        {"type": "function", "name": "plain"},
    ]
    rewards = {"n_passed": 21, "n_criteria": 23}
    limits = [
        capped(1, incomplete_details={"reason": "max_output_tokens"}),
        capped(2, status="incomplete"),
        capped(3, status="incomplete", incomplete_details={"reason": "content_filter"}),
        rollout(4, 0, reward=0.0, finish_reason="length"),
        rollout(5, 0, reward=0.0, finish_reason="stop", limit_reached="not ours"),
        rollout(6, 0, reward=0.0, _blade={"limit_reached": "not ours"}),
    ]
    files = {
        "skipped.jsonl": [
            rollout(1, 0, reward=0.0, verification_skipped=True),
            rollout(2, 0, reward=1.0, verification_skipped=False),
        ],
        "masked.jsonl": masked,
        "scores.jsonl": [
            bare(1, score=0.25, correct=True),
            bare(2, correct=True, passed=False),
            {"_ng_task_index": 3, "_ng_rollout_index": 0, "success": False},
            {"_ng_task_index": 4, "_ng_rollout_index": 0, "response": None},
            {"_ng_task_index": 5, "_ng_rollout_index": 0, "responses_create_params": {}},
            bare(6, score="high", passed="yes"),
        ],
        "nulls.jsonl": [rollout(1, 0, reward=None, score=1.0), rollout(2, 0, reward=0.5)],
        "limits.jsonl": limits,
        "hinted.jsonl": [hinted, rollout(2, 0, reward=0.0)],
        "observed.jsonl": [
            observed(1, RECORDS),
            observed(2, []),
            observed(3, [], ng_trajectory=TRAJECTORY),
            rollout(4, 0, reward=0.0),
        ],
        "totals.jsonl": [
            rollout(1, 0, reward=0.0, metadata={"verifier_result": {"rewards": rewards}}),
            rollout(2, 0, reward=0.0, rubric_passed=6, rubric_total=9),
            rollout(3, 0, reward=0.0, num_passed=7, num_total=5),
            rollout(4, 0, reward=0.0, num_passed="3", num_total=5),
            rollout(5, 0, reward=0.0, a={"n_passed": 1}, b={"n_criteria": 2}),
        ],
        "silent.jsonl": [{"_ng_task_index": 1, "_ng_rollout_index": 0, "reward": 1.0}],
    }
    return analyzed(tmp_path_factory.mktemp("facts"), files, needs=NEEDS)


@facts("recorded")
def test_recorded(found: Results, fact: Fact) -> None:
    """As tests/facts/recorded.test says."""
    fact.check(found)


@pytest.mark.slow
def test_a_profile_has_the_last_word(tmp_path: Path) -> None:
    """The field that a profile names is the reward, with anything else in a row."""
    rows = [bare(1, score=1.0, points=0.5), bare(2, score=1.0, points=0.0)]
    profile = '[fields]\nreward = "points"\n'
    files = {"r.jsonl": rows, "blade.toml": profile}
    results = analyzed(tmp_path, files, needs=("rollouts",))
    assert results.column("select reward from rollouts order by task_id") == [0.5, 0.0]


def test_show_prints_what_was_observed(found: Results) -> None:
    """`blade show` names subagents, compactions, timeouts and what became of the sandbox."""
    page = call("show", "observed/1:0", "--warehouse", found.path).stdout
    for fact in ("n_subagents 2", "n_compactions 1", "n_tool_timeouts 1", "duration_s 90"):
        assert f"  {fact}" in page
    assert "  sandbox_outcome agent oom, exit code 137; verifier completed  " in page
    assert "n_subagents" not in call("show", "observed/4:0", "--warehouse", found.path).stdout


@pytest.mark.slow
def test_a_model_that_nobody_names(tmp_path: Path) -> None:
    """It is null in every output, and no run's name replaces it."""
    rows = [rollout(task, 0, reward=float(task % 2)) for task in range(4)]
    for row in rows:
        row["response"].pop("model", None)
        row["responses_create_params"].pop("model", None)
    results = analyzed(tmp_path, {"one.jsonl": rows, "two.jsonl": rows[:3]})
    out = tmp_path / "out"
    assert results.column("select model from runs") == [None, None]
    assert '"model_name": null' in (out / "runs" / "one" / "metrics.json").read_text("utf-8")
    page = (out / "report.md").read_text("utf-8")
    assert not re.search(r"\bNone\b(?!: )", page)
    assert call("compare", "one", "two", "--warehouse", results.path).code in (0, 1)
    for form in ("gym", "every_eval_ever", "atif", "package"):
        folder = tmp_path / form
        done = call("export", "--format", form, "--out", folder, "--warehouse", results.path)
        assert done.code == 0, done.stderr


@pytest.mark.slow
def test_the_runs_of_a_benchmark_share_its_writing_tools(tmp_path: Path) -> None:
    """A change that is not expected is one in every run, whichever run defines the tools."""
    wanted = [{"name": "look", "arguments": {}}, {"name": "send", "arguments": {"to": "b"}}]
    calls = [*called("look", {}), *called("send", {"to": "a"})]

    def rows() -> list[Row]:
        return [rollout(task, 0, reward=0.0, output=calls, expected_calls=wanted) for task in "12"]

    defining = rows()
    for row in defining:
        row["responses_create_params"]["tools"] = [tool("send", readOnlyHint=False)]
    files = {"desk_a_rollouts.jsonl": defining, "desk_b_rollouts.jsonl": rows()}
    profile = {"blade.toml": 'benchmark = "desk"\n'}
    results = analyzed(tmp_path, {**files, **profile}, needs=("expected_calls",))
    query = "select distinct run_id, is_write from expected_calls where tool = 'send' order by all"
    assert results.rows(query) == [("desk_a", True), ("desk_b", True)]
