"""Features of rollouts: what their calls, results and words show, worked out by hand."""

from __future__ import annotations

import pytest

from pipeline import open_warehouse
from tests.case_files import cases
from tests.mode_cases import CUT, SPENT, UNSPENT, Step, no
from tests.results import Results, Row, analyzed, rollout

# Calls and results that no id, or the wrong one, ties together.
ASKED = {"type": "function_call", "name": "w", "arguments": "{}"}
ANSWERED_WELL = {"type": "function_call_output", "output": "ok"}
ANSWERED_BADLY = {"type": "function_call_output", "output": "Error: no"}
LOOKS: Step = ("find", {"name": "Ana"}, "ok")


def items(*given: Row) -> Row:
    """A failing attempt of these items."""
    return {"reward": 0.0, "response": {"output": list(given)}}


def acts(*given: Step) -> Row:
    """A failing attempt at a task that expects one booking, and a look."""
    wants = [{"name": "find", "kwargs": {}}, {"name": "book", "kwargs": {"to": "SEA", "at": None}}]
    return no(*given, expected_actions=wants)


FULL: Step = ("w", {"x": 1}, "Error: full")
# An attempt each, alone at its task, and what its features are.
SHOWN: list[tuple[Row, Row]] = [
    (
        no(("w", {"x": 1}, "ok"), FULL, FULL, "sorry"),
        {"n_tool_calls": 3, "n_tools": 1, "n_tool_errors": 2, "n_repeated_calls": 2}
        | {"n_counted_calls": 1, "longest_error_streak": 2, "n_final_errors": 2}
        | {"n_same_final_errors": 2, "ends_in_error": True, "ends_on_tool": False}
        | {"final_error_seq": 6, "repeated_error_seq": 5, "final_text_seq": 7}
        | {"n_final_characters": 5, "has_output": True, "has_action": True, "has_feedback": True},
    ),
    (
        no(FULL, ("r", {}, "ok"), "done"),
        {"n_tools": 2, "n_tool_errors": 1, "longest_error_streak": 1, "n_final_errors": 0}
        | {"ends_in_error": False, "final_error_seq": None, "repeated_error_seq": None},
    ),
    # Neither a list nor half an object is an object; nothing at all is no mistake.
    (
        no(*(("w", text, "ok") for text in ("[1]", "{", "null", " ", '{"a": 1}')), ("w", "x")),
        {"n_malformed_calls": 3, "malformed_seq": 11, "n_unanswered_calls": 1}
        | {"ends_on_tool": True, "ends_in_error": False, "final_text_seq": None},
    ),
    # By their ids; the last call is the one in error.
    (
        items(
            *({**ASKED, "call_id": i} for i in "ab"),
            *({**ANSWERED_BADLY, "call_id": "b"},),
            {**ANSWERED_WELL, "call_id": "a"},
        ),
        {"n_counted_calls": 1, "ends_in_error": True, "n_final_errors": 1, "final_error_seq": 3},
    ),
    # In order where there is no id, or one for all; what comes before its call answers nothing.
    (
        items(ASKED, ASKED, ANSWERED_BADLY, ANSWERED_WELL),
        {"ends_in_error": False, "n_counted_calls": 1, "n_repeated_calls": 1},
    ),
    (
        items(*[{**each, "call_id": 1} for each in (ASKED, ANSWERED_WELL, ASKED, ANSWERED_BADLY)]),
        {"ends_in_error": True, "n_counted_calls": 1, "final_error_seq": 4},
    ),
    (
        items({**ANSWERED_WELL, "call_id": "a"}, {**ASKED, "call_id": "a"}),
        {"n_unanswered_calls": 1, "n_counted_calls": 0},
    ),
    (no("so", response=CUT), {"is_truncated": True, "n_tool_calls": 0, "has_action": False}),
    (no("so", returncode="3"), {"is_truncated": False, "exit_code": 3, "has_feedback": False}),
    # Tokens were spent on what nobody recorded; none were, where there was nothing to record.
    (no(response=SPENT), dict.fromkeys(("n_tool_calls", "n_turns", "has_output", "ends_in_error"))),
    (no(response=UNSPENT), {"has_output": False, "n_tool_calls": 0, "ends_in_error": False}),
    (acts(LOOKS, "no"), {"n_expected_actions": 1, "n_matched_actions": 0, "n_unexpected_calls": 0}),
    (
        acts(LOOKS, ("book", {"to": "OAK"}, "ok"), ("book", {"to": "SEA"}, "ok"), "done"),
        {"n_matched_actions": 1, "n_unexpected_calls": 1, "unexpected_call_seq": 3}
        | {"n_counted_calls": 2},
    ),
    # A booking that failed changed nothing.
    (
        acts(("book", {"to": "SEA"}, "Error: full"), "sorry"),
        {"n_matched_actions": 0, "n_unexpected_calls": 0, "unexpected_call_seq": None},
    ),
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
        "answers": [{**ANSWERED_WELL, "output": text} for text in (*FAILED, *ANSWERED)],
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
