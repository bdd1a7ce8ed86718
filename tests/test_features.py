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
from tests.reference import Row, clean
from tests.results import analyzed


def compared(path: Path, base: Path) -> tuple[list[str], dict[str, int]]:
    """Every feature that differs from the reference, and how many rows show each one."""
    with open_warehouse(path) as warehouse:
        held = warehouse.sql("""
            select features.*, rollouts.source_file, rollouts.source_line
            from rollout_features as features
            join rollouts using (run_id, task_id, rollout_index)
        """).to_dicts()
    lines: dict[str, list[bytes]] = {}
    rows: list[tuple[dict[str, Any], Row]] = []
    for row in held:
        file = row["source_file"]
        if file not in lines:
            lines[file] = (base / file).read_bytes().split(b"\n")
        rows.append((row, clean(json.loads(lines[file][row["source_line"] - 1]))))
    tasks: dict[str, dict[str, list[tuple[Row, bool]]]] = defaultdict(lambda: defaultdict(list))
    for row, raw in rows:
        task = f"{row['run_id']}/{row['task_id']}"
        tasks[row["benchmark"]][task].append((raw, row["is_pass"] is True))
    tools = {name: features_reference.consequential_tools(given) for name, given in tasks.items()}
    wrong = []
    shown: dict[str, int] = defaultdict(int)
    for row, raw in rows:
        given = tasks[row["benchmark"]][f"{row['run_id']}/{row['task_id']}"]
        own = tools[row["benchmark"]]
        listed = features_reference.expected(each for each, _ in given)
        expected = features_reference.features(raw, own)
        expected |= features_reference.actions(raw, listed, own)
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
    found = analyzed(tmp_path, files, needs=["rollouts", "rollout_features"])
    wrong, shown = compared(found.path, tmp_path / "results")
    assert wrong == []
    assert [name for name in shown if shown[name] < 5] == []
