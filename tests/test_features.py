"""Features of rollouts, row by row against a plain reading of the lines they came from."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from pipeline import open_warehouse
from tests import features_reference, odd_rows
from tests.conftest import CORPUS, DEMO, needs_corpus
from tests.reference import Row, clean, events
from tests.results import analyzed, rollout


def compared(path: Path, base: Path) -> tuple[list[str], dict[str, int]]:
    """Every feature that differs from the reference, and how many rows show each one."""
    with open_warehouse(path) as warehouse:
        held = warehouse.sql("""
            select features.*, rollouts.source_file, rollouts.source_line
            from rollout_features as features
            join rollouts using (run_id, task_id, rollout_index)
        """).to_dicts()
        failed = warehouse.execute("""
            select run_id, task_id, rollout_index, list(seq) from events where is_error group by all
        """).fetchall()
    errors = {tuple(key): frozenset(seqs) for *key, seqs in failed}
    lines: dict[str, list[bytes]] = {}
    rows: list[tuple[dict[str, Any], Row, frozenset[int]]] = []
    for row in held:
        file = row["source_file"]
        if file not in lines:
            lines[file] = (base / file).read_bytes().split(b"\n")
        raw = clean(json.loads(lines[file][row["source_line"] - 1]))
        key = (row["run_id"], row["task_id"], row["rollout_index"])
        rows.append((row, raw, errors.get(key, frozenset())))
    tasks: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for row, raw, own_errors in rows:
        task = f"{row['run_id']}/{row['task_id']}"
        tasks[row["benchmark"]][task].append((raw, own_errors, row["is_pass"] is True))
    with_items = {row["run_id"] for row, raw, _ in rows if events(raw)}
    tools = {name: features_reference.consequential_tools(given) for name, given in tasks.items()}
    wrong = []
    shown: dict[str, int] = defaultdict(int)
    for row, raw, own_errors in rows:
        given = tasks[row["benchmark"]][f"{row['run_id']}/{row['task_id']}"]
        own = tools[row["benchmark"]]
        listed = features_reference.expected(each for each, _, _ in given)
        expected = features_reference.features(raw, own_errors, own)
        expected |= features_reference.actions(raw, own_errors, listed, own)
        is_seen = row["run_id"] in with_items
        if not features_reference.is_observed(raw, run_has_items=is_seen):
            expected |= dict.fromkeys(features_reference.UNSEEN)
        else:
            expected["is_truncated"] = bool(expected["is_truncated"])
        for name, value in expected.items():
            got = row[name]
            shown[name] += bool(value)
            if got != value:
                place = f"{row['source_file']}:{row['source_line']}"
                wrong.append(f"{place}: {name} is {got!r}, expected {value!r}")
    return wrong, shown


def test_demo_features(demo: Path) -> None:
    """What the demo's rollouts did is what their lines say."""
    wrong, shown = compared(demo, DEMO)
    assert wrong == []
    assert {name for name in shown if not shown[name]} == {
        "n_unanswered_calls",
        "ends_on_tool",
        "exit_code",
    }


@needs_corpus
def test_corpus_features(corpus: Path) -> None:
    """What real rollouts did is what their lines say."""
    wrong, shown = compared(corpus, CORPUS)
    assert wrong == []
    assert shown["exit_code"] and shown["n_unexpected_calls"] and shown["longest_error_streak"]


@pytest.mark.slow
def test_odd_features(tmp_path: Path) -> None:
    """Ids missing or twice, results before calls and arguments of any kind are counted alike."""
    files = {
        "odd_rollouts.jsonl": odd_rows.rows(11, 600),
        "acting_rollouts.jsonl": odd_rows.acting_rows(12, 60),
    }
    found = analyzed(tmp_path, files, needs=["rollouts", "events", "rollout_features"])
    wrong, shown = compared(found.path, tmp_path / "results")
    assert wrong == []
    assert [name for name in shown if shown[name] < 5] == []


# What tools answered: a failure where a field of JSON says so, or where a text begins like one.
FAILED = (
    "Error: no such file",
    "  error 404",
    "(Error while calling search)",
    "Tool error: timeout",
    "ValueError: invalid literal",
    "Traceback (most recent call last):\n  File x",
    "Command timed out after 30 s",
    "Failed to connect",
    "unknown tool mail_sned",
    '{"exit_code": 2, "output": "x"}',
    '{"error": "not found"}',
    '{"status": "failed"}',
    '{"isError": true}',
    '{"success": false}',
)
ANSWERED = (
    "no error was found",
    "The search for errors: 3 hits",
    "Errors are listed below",
    "Terror: a film",
    "I failed to see the point",
    "exceptional: yes",
    '{"exit_code": 0, "output": "Error: printed by the program"}',
    '{"error": null}',
    '{"error": "none"}',
    '{"status": "ok", "text": "Traceback (most recent call last)"}',
    '{"success": true}',
    '["Error"]',
    "",
)


def test_errors_of_tools(tmp_path: Path) -> None:
    """A tool's answer is an error where a field says so, or where its text begins like one."""
    rows = [
        rollout(task, 0, output=[{"type": "function_call_output", "call_id": "c", "output": text}])
        for task, text in enumerate((*FAILED, *ANSWERED))
    ]
    found = analyzed(tmp_path, {"a_rollouts.jsonl": rows}, needs=["events"])
    wrong = found.column(f"""
        select text from events where is_error <> (task_id::int < {len(FAILED)}) order by task_id
    """)
    assert wrong == []


RAW_CALLS = (
    "<tool_call>{}</tool_call>",
    "so <function=find>",
    "[TOOL_CALLS] x",
    '<invoke name="f">',
)
PLAIN = ("I will call the tool", "function find()", "<tools>", "tool_call")


def test_calls_that_are_only_written(tmp_path: Path) -> None:
    """A call in the words of an answer is seen by the marks that models write around it."""
    rows = [
        rollout(task, 0, output=[{"type": "message", "role": "assistant", "content": text}])
        for task, text in enumerate((*RAW_CALLS, *PLAIN))
    ]
    found = analyzed(tmp_path, {"a_rollouts.jsonl": rows}, needs=["rollout_features"])
    written = "select task_id::int from rollout_features where is_raw_call order by 1"
    assert found.column(written) == list(range(len(RAW_CALLS)))
