"""What a row's own fields say: the verifier's checks, and short fields of tasks and outcomes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.case_files import cases
from tests.results import Results, Row, analyzed, rollout

# By shape: the fields of a row, and its checks as source, name, is_passed, score and message.
SHAPES: dict[str, Row] = cases("record", "shapes")
# What rows give as the reason they ended: whether that ends an attempt by itself, and the cause.
ENDS: dict[str, list[Any]] = cases("record", "ends")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A task for every shape, fields of tasks and of outcomes, and what ends an attempt."""
    rows = [
        rollout(task, 0, ask=f"shape {task}", reward=0.0, **case["row"])
        for task, case in enumerate(SHAPES.values())
    ]
    files = {
        "shapes_rollouts.jsonl": rows,
        "repeated_rollouts.jsonl": repeated(),
        "single_rollouts.jsonl": single(),
        "ends_rollouts.jsonl": ends(),
    }
    needs = ["checks", "record_fields", "mode_tests", "rollout_modes"]
    return analyzed(tmp_path_factory.mktemp("recorded"), files, needs=needs)


@pytest.mark.parametrize("shape", SHAPES)
def test_checks(shape: str, recorded: Results) -> None:
    """Every shape of checks is read, with verdict, score and message; what is none is left out."""
    found = recorded.rows(f"""
        select source, check_name, is_passed, score, message from checks
        where run_id = 'shapes' and task_id = '{list(SHAPES).index(shape)}' order by all
    """)
    assert [list(row) for row in found] == SHAPES[shape]["checks"]


def repeated() -> list[Row]:
    """Two repeats of four tasks; the second of each even task fails."""
    rows = []
    for task in range(4):
        for index in range(2):
            is_pass = task % 2 == 1 or index == 0
            fields = {
                "subject": "law" if task < 2 else "art",
                "exit_status": "timeout" if not is_pass and task else "done",
                # Some say it, some do not.
                **({"mood": "calm"} if index else {}),
                # The same everywhere; the verdict again, as numbers and as words.
                "version": "1.2",
                "resolved": is_pass,
                "meta": {"grade": int(is_pass), "depth": {"level": task}},
                # Too long, and of no length.
                "essay": f"{task} {'x' * 200}",
                "empty": "",
            }
            rows.append(rollout(task, index, reward=float(is_pass), **fields))
    return rows


def single() -> list[Row]:
    """One repeat of three tasks: only names can tell what is of the outcome."""
    said = [("law", "ok", 0.0), ("art", "max_turns", 0.0), ("law", "ok", 1.0)]
    return [
        rollout(task, 0, reward=reward, ask=f"single {task}", subject=subject, stop_reason=reason)
        for task, (subject, reason, reward) in enumerate(said)
    ]


def test_record_fields(recorded: Results) -> None:
    """A field is the task's where repeats agree, else the outcome's; what says nothing is out."""
    scopes = recorded.rows("""
        select distinct run_id, field, scope from record_fields
        where run_id in ('repeated', 'single') order by all
    """)
    assert scopes == [
        ("repeated", "exit_status", "outcome"),
        ("repeated", "meta.depth.level", "task"),
        ("repeated", "mood", "outcome"),
        ("repeated", "subject", "task"),
        ("single", "stop_reason", "outcome"),
        ("single", "subject", "task"),
    ]
    values = recorded.rows("""
        select task_id, rollout_index, value from record_fields
        where run_id = 'repeated' and field = 'exit_status' and task_id in ('0', '2') order by all
    """)
    assert values == [("0", 0, "done"), ("0", 1, "done"), ("2", 0, "done"), ("2", 1, "timeout")]


def ends() -> list[Row]:
    """Two tasks for each reason, and one that passes."""
    rows = [
        rollout(task, 0, reward=0.0, ask=f"ends {task}", error_message=value)
        for task, value in enumerate([*ENDS, *ENDS])
    ]
    return [*rows, rollout(99, 0, reward=1.0, ask="ends well", error_message="none")]


def test_what_ends_an_attempt(recorded: Results) -> None:
    """A cap or the machinery is one by what its value says, not by a word of a wrong answer."""
    signs = recorded.rows("""
        select distinct sign, is_always, cause from staging.signs where sign like 'error_message=%'
    """)
    assert {sign.partition("=")[2]: told for sign, *told in signs if "none" not in sign} == ENDS
