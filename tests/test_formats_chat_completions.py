"""Logged requests, and rows of Gym without its request: what is asked, and which task it is of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.lean import CHECKED
from tests.results import Row, analyzed, lines

NEEDS = ("events", "rollouts", "runs", "task_prompts")
QUESTIONS = "select task_id, prompt from task_prompts order by task_id"


def logged(place: int, ask: str, **more: Any) -> Row:
    """A request with the call that answers it."""
    function = {"name": "area", "arguments": '{"a": 2}'}
    answer = {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": function}]}
    row = {
        "data_index": place,
        "request": {
            "model": "m-asked",
            "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": ask}],
            "temperature": 0.5,
            "tools": [{"type": "function", "function": {"name": "area"}}],
        },
        "response": {
            "object": "chat.completion",
            "model": "m",
            "choices": [{"finish_reason": "tool_calls", "message": answer}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3},
        },
        "status": "success",
        "duration_ms": 2500,
    }
    return {**row, **more}


def test_logged_requests(tmp_path: Path) -> None:
    """Each row is the task that its id names, with its question, call, tokens and time."""
    failed = {"error": "Error code: 400 - bad schema"}
    rows = [logged(1, "Q?"), logged(2, "Q?"), logged(3, "R?", response=failed)]
    results = analyzed(tmp_path, {"vendor.jsonl": lines(rows) + "[]\n"}, needs=NEEDS)
    assert results.rows(QUESTIONS) == [("1", "Q?"), ("2", "Q?"), ("3", "R?")]
    assert results.rows("select run_id, model, n_tasks from runs") == [("vendor", "m", 3)]
    query = """
        select is_scored, finish_reason, input_tokens, output_tokens, duration_s
        from rollouts order by task_id
    """
    answered = (False, "tool_calls", 7, 3, 2.5)
    assert results.rows(query) == [answered, answered, (False, None, None, None, 2.5)]
    calls = results.rows("select task_id, kind, tool, arguments from events order by task_id, seq")
    assert calls == [(task, "tool_call", "area", '{"a": 2}') for task in ("1", "2")]
    assert results.column("select reason from rejects") == ["not a JSON object"]


@pytest.mark.slow
def test_logged_requests_without_ids(tmp_path: Path) -> None:
    """The request tells tasks apart; the same one again is a repeat."""
    rows = [logged(0, ask, reward=1.0) for ask in ("Q?", "Q?", "R?")]
    for row in rows:
        del row["data_index"]
    results = analyzed(tmp_path, {"vendor.jsonl": rows}, needs=NEEDS)
    request = "select prompt, count(*) from rollouts join task_prompts using (task_id) group by all"
    assert sorted(results.rows(request)) == [("Q?", 2), ("R?", 1)]
    assert results.column("select reward from rollouts") == [1.0] * 3


MESSAGES = [{"role": "user", "content": "Q?"}]
ANSWERED = [*MESSAGES, {"role": "assistant", "content": "A"}]


ROWS: list[Row] = [
    {"messages": MESSAGES, "response": "A"},
    {"messages": ANSWERED},
    {"prompt": "Q?", "response": "A"},
    {"prompt": json.dumps(MESSAGES), "response": {"output": "A"}},
    {"request": {"messages": MESSAGES}, "response": "A"},
    {"responses_create_params": json.dumps({"input": MESSAGES}), "response": "A"},
    {"messages": MESSAGES, "response": json.dumps({"choices": [{"message": ANSWERED[1]}]})},
    {"messages": MESSAGES, "response": {"choices": [{"message": ANSWERED[1]}]}},
]


@pytest.mark.slow
def test_a_question_outside_of_the_request(tmp_path: Path) -> None:
    """It is read where it is, as messages or text or JSON in a string."""
    files = {f"plain{n}_rollouts.jsonl": [{**row, "reward": 1.0}] for n, row in enumerate(ROWS)}
    results = analyzed(tmp_path, files, needs=NEEDS)
    request = (
        "select run_id, prompt from rollouts join task_prompts using (run_id, task_id) order by 1"
    )
    assert results.rows(request) == [(f"plain{n}", "Q?") for n in range(len(ROWS))]
    answered = results.rows("select run_id, text from events order by all")
    assert answered == [(f"plain{n}", "A") for n, row in enumerate(ROWS) if "response" in row]


@pytest.mark.slow
def test_rollouts_without_a_task_are_tasks_of_their_own(tmp_path: Path) -> None:
    """Nothing says that two of them ask the same: each is a task by its line, as a notice says."""
    bare = [{"response": f"A{n}", "reward": n % 2, "expected_answer": "A1"} for n in range(3)]
    rows = [*bare, {"response": "B", "reward": 1.0, "prompt": "Q?"}]
    results = analyzed(tmp_path, {"plain_rollouts.jsonl": rows}, needs=CHECKED)
    tasks = results.column("select task_id from rollouts order by source_line")
    assert tasks[:3] == ["line-1", "line-2", "line-3"]
    assert not tasks[3].startswith("line-")
    notice = "select subject, message from assertions.warn where check_name = 'warn_tasks_unnamed'"
    message = "3 rollouts name no task and show no question: each is taken for a task of its own, "
    assert results.rows(notice) == [("plain", message + "by its line")]
