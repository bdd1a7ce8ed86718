"""Features of rollouts: what their calls, results and words show, worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline import open_warehouse
from tests.attempts import attempt
from tests.case_files import cases
from tests.results import Results, Row, analyzed, rollout

# Attempts, and what their features are.
SHOWN = [
    (attempt({name: case[name] for name in case if name != "shows"}), case["shows"])
    for case in cases("shown", "shown")
]


# What tools answered: a failure where a field of JSON says so, or where a text begins like one.
FAILED = cases("features", "failed")
ANSWERED = cases("features", "answered")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Attempts of all kinds, and answers of tools."""
    files: dict[str, list[Row]] = {"a_rollouts.jsonl": [], "b_rollouts.jsonl": []}
    for task, (row, _) in enumerate(SHOWN):
        name = "b" if "expected_actions" in row else "a"
        files[f"{name}_rollouts.jsonl"].append(rollout(task, 0, ask=f"{name} {task}", **row))
    files["answers_rollouts.jsonl"] = [
        rollout(
            task,
            0,
            ask=f"answers {task}",
            output=[{"type": "function_call_output", "call_id": "c", "output": text}],
        )
        for task, text in enumerate((*FAILED, *ANSWERED))
    ]
    needs = ["rollouts", "events", "rollout_features"]
    return analyzed(tmp_path_factory.mktemp("features"), files, needs=needs)


def test_features(loaded: Results) -> None:
    """What each attempt shows, worked out by hand from its items."""
    with open_warehouse(loaded.path) as warehouse:
        query = "from rollout_features where run_id in ('a', 'b') order by task_id::int"
        rows = warehouse.sql(query).to_dicts()
    for row, (_, expected) in zip(rows, SHOWN, strict=True):
        assert {name: row[name] for name in expected} == expected, row["task_id"]


def test_errors_of_tools(loaded: Results) -> None:
    """A tool's answer is an error where a field says so, or where its text begins like one."""
    wrong = loaded.column(f"""
        select text from events
        where run_id = 'answers' and is_error <> (task_id::int < {len(FAILED)}) order by task_id
    """)
    assert wrong == []


@pytest.mark.slow
def test_errors_of_an_environment_without_tools(tmp_path: Path) -> None:
    """A message to the model that begins like an error counts as one; the model's own does not."""

    def message(role: str, text: str) -> Row:
        return {"type": "message", "role": role, "content": text}

    refused = "API error while performing RESET: SERVER_ERROR."
    words = [
        ("user", "Error: what the dialogue begins with"),
        ("assistant", "Error: I cannot"),
        ("user", refused),
        ("assistant", "RESET"),
        ("user", refused),
        ("user", "The error: is it gone?"),
    ]
    files = {
        "a_rollouts.jsonl": [rollout(0, 0, reward=0.0, output=[message(*each) for each in words])]
    }
    found = analyzed(tmp_path, files, needs=["rollouts", "error_signatures", "signs"])
    assert found.rows("select n_tool_errors, n_tool_calls from rollouts") == [(2, 0)]
    assert found.rows("""
        select source, signature, n_events, example from error_signatures where run_id is not null
    """) == [("environment", refused, 2, "a/0:0#3")]
    assert found.rows("select name, value, seq from signs where kind = 'error'") == [
        ("reply", refused, 3)
    ]
