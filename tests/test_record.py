"""What a row's own fields say: the verifier's checks, and short fields of tasks and outcomes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.results import Results, Row, analyzed, rollout

LOG = (
    "tests/test_a.py::test_adds PASSED [50%]\\n"
    "tests/test_a.py::test_sums[1-2] FAILED [100%]\\n"
    "FAILED tests/test_a.py::test_sums[1-2] - AssertionError: 3 != 4\\n"
).replace("\\n", "\n")
# By shape: the fields of a row, and its checks as (source, name, is_passed, score, message).
SHAPES: dict[str, tuple[Row, list[tuple[Any, ...]]]] = {
    "a list of objects": (
        {
            "rubric_evaluations": [
                {"criterion": "cites", "verdict": "met", "reason": "two of them"},
                {"criterion": "short", "verdict": "not met", "reason": "900 words"},
                {"criterion": "short", "verdict": "met"},
                {"criterion": "no verdict"},
                {"verdict": "met"},
            ]
        },
        [
            ("rubric_evaluations", "cites", True, None, "two of them"),
            ("rubric_evaluations", "short", False, None, "900 words"),
            ("rubric_evaluations", "short (2)", True, None, None),
        ],
    ),
    "scores of objects": (
        {"judge": {"items": [{"name": "tone", "score": 0.5}, {"name": "facts", "score": 1.0}]}},
        [("judge.items", "facts", True, 1.0, None), ("judge.items", "tone", False, 0.5, None)],
    ),
    "exit codes": (
        {"steps": [{"name": "build", "exit_code": 0}, {"name": "run", "exit_code": 2}]},
        [("steps", "build", True, None, None), ("steps", "run", False, None, None)],
    ),
    "an object of verdicts": (
        {"parser_results": {"test_a": "passed", "test_b": "failed"}},
        [
            ("parser_results", "test_a", True, None, None),
            ("parser_results", "test_b", False, None, None),
        ],
    ),
    "one entry is enough": (
        {"checks": {"compiles": False}},
        [("checks", "compiles", False, None, None)],
    ),
    "no object of verdicts": ({"settings": {"a": True, "b": "blue"}}, []),
    "parallel lists": (
        {"ifeval": {"instruction_ids": ["no_comma", "title"], "follows": [True, False]}},
        [
            ("ifeval.follows", "no_comma", True, None, None),
            ("ifeval.follows", "title", False, None, None),
        ],
    ),
    "a list without names": (
        {"details": [True, False]},
        [("details", "1", True, None, None), ("details", "2", False, None, None)],
    ),
    "names under what became of them": (
        {"report": {"PASS_TO_PASS": {"success": ["a"], "failure": ["b"]}}},
        [
            ("report.PASS_TO_PASS", "a", True, None, None),
            ("report.PASS_TO_PASS", "b", False, None, None),
        ],
    ),
    "what pytest printed": (
        {"test_output": LOG},
        [
            ("log", "tests/test_a.py::test_adds", True, None, None),
            ("log", "tests/test_a.py::test_sums[1-2]", False, None, "AssertionError: 3 != 4"),
        ],
    ),
    "components of the reward": (
        {"reward_components": {"format": 1.0, "length": 0.25, "bonus": 3.0}},
        [
            ("reward_components", "bonus", None, 3.0, None),
            ("reward_components", "format", True, 1.0, None),
            ("reward_components", "length", False, 0.25, None),
        ],
    ),
    "numbers named so": (
        {"style_score": 0.5, "temperature": 0.5},
        [("row", "style_score", False, 0.5, None)],
    ),
    "booleans named so": (
        {"schema_valid": False, "db_match": True, "is_public": True},
        [("row", "db_match", True, None, None), ("row", "schema_valid", False, None, None)],
    ),
    "settings and transcripts": ({"config": {"tests": {"a": False}}, "tools": [{"name": "x"}]}, []),
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A task for every shape, fields of tasks and of outcomes, and what ends an attempt."""
    rows = [
        rollout(task, 0, ask=f"shape {task}", reward=0.0, **each)
        for task, (each, _) in enumerate(SHAPES.values())
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
    assert found == SHAPES[shape][1]


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


# What rows give as the reason they ended: whether that ends an attempt by itself, and the cause.
ENDS = {
    "length": (True, "BI"),
    "budget": (True, "BI"),
    "Agent timed out after 600 s": (True, "BI"),
    "sandbox failed": (True, "IR"),
    "judge_failed": (True, "TI"),
    "Wrong answer: mismatched output length": (False, None),
    "expected a timeout of 30 s": (False, None),
    "length of the list": (False, None),
}


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
    assert {sign.partition("=")[2]: told for sign, *told in signs if "none" not in sign} == {
        value: list(told) for value, told in ENDS.items()
    }
