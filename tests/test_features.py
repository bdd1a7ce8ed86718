"""Features of rollouts: what their calls, results and words show, worked out by hand."""

from __future__ import annotations

import pytest

from pipeline import open_warehouse
from tests.case_files import cases
from tests.mode_cases import attempt
from tests.results import Results, Row, analyzed, rollout

# Attempts, and what their features are.
SHOWN = [
    (attempt({name: case[name] for name in case if name != "shows"}), case["shows"])
    for case in cases("shown", "shown")
]


# What tools answered: a failure where a field of JSON says so, or where a text begins like one.
FAILED = cases("features", "failed")
ANSWERED = cases("features", "answered")
RAW_CALLS = cases("features", "raw_calls")
PLAIN = ("I will call the tool", "function find()", "<tools>", "tool_call")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Attempts of all kinds, answers of tools, and calls that are only written."""
    files: dict[str, list[Row]] = {"a_rollouts.jsonl": [], "b_rollouts.jsonl": []}
    for task, (row, _) in enumerate(SHOWN):
        name = "b" if "expected_actions" in row else "a"
        files[f"{name}_rollouts.jsonl"].append(rollout(task, 0, ask=f"{name} {task}", **row))
    outputs = {
        "answers": [
            {"type": "function_call_output", "output": text} for text in (*FAILED, *ANSWERED)
        ],
        "words": [
            {"type": "message", "role": "assistant", "content": text}
            for text in (*RAW_CALLS, *PLAIN)
        ],
    }
    for name, items_ in outputs.items():
        files[f"{name}_rollouts.jsonl"] = [
            rollout(task, 0, ask=f"{name} {task}", output=[{"call_id": "c", **item}])
            for task, item in enumerate(items_)
        ]
    needs = ["rollouts", "events", "rollout_features"]
    return analyzed(tmp_path_factory.mktemp("features"), files, needs=needs)


def test_features(found: Results) -> None:
    """What each attempt shows, worked out by hand from its items."""
    with open_warehouse(found.path) as warehouse:
        query = "from rollout_features where run_id in ('a', 'b') order by task_id::int"
        rows = warehouse.sql(query).to_dicts()
    for row, (_, expected) in zip(rows, SHOWN, strict=True):
        assert {name: row[name] for name in expected} == expected, row["task_id"]


def test_errors_of_tools(found: Results) -> None:
    """A tool's answer is an error where a field says so, or where its text begins like one."""
    wrong = found.column(f"""
        select text from events
        where run_id = 'answers' and is_error <> (task_id::int < {len(FAILED)}) order by task_id
    """)
    assert wrong == []


def test_calls_that_are_only_written(found: Results) -> None:
    """A call in the words of an answer is seen by the marks that models write around it."""
    written = "select task_id::int from rollout_features where is_raw_call and run_id = 'words'"
    assert found.column(f"{written} order by 1") == list(range(len(RAW_CALLS)))
