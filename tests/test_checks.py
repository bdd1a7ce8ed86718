"""What the verifier checked, recognised by the shape of its record."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.case_files import cases
from tests.results import Results, Row, analyzed, rollout

# By shape: the fields of a row, and its checks as source, name, is_passed, score and message.
SHAPES: dict[str, Row] = cases("checks", "shapes")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A task for every shape."""
    rows = [
        rollout(task, 0, ask=f"shape {task}", reward=0.0, **case["row"])
        for task, case in enumerate(SHAPES.values())
    ]
    # Passes show that a boolean that is false in them is no failed check.
    report = {"patch_is_None": False, "applied": True, "resolved": True}
    rows += [rollout(900 + task, 0, ask=f"pass {task}", report=report) for task in range(2)]
    # In another benchmark lists and objects of the same names hold something else.
    unlike = {"steps": [{"name": "open", "at": 3}, {"name": "shut", "at": 4}], "verdicts": {"n": 7}}
    alike = {"steps": [{"name": "a", "ok": True}, {"name": "b", "ok": False}]}
    others = [rollout(task, 0, ask=f"else {task}", reward=0.0, **unlike) for task in range(30)]
    listed = [rollout(task, 0, ask=f"listed {task}", reward=0.0, **alike) for task in range(3)]
    files = {
        "shapes_rollouts.jsonl": rows,
        "others_rollouts.jsonl": others,
        "listed_rollouts.jsonl": listed,
    }
    return analyzed(tmp_path_factory.mktemp("recorded"), files, needs=["checks"])


@pytest.mark.parametrize("shape", SHAPES)
def test_checks(shape: str, recorded: Results) -> None:
    """Every shape of checks is read, with verdict, score and message; what is none is left out."""
    rows = recorded.rows(f"""
        select source, check_name, is_passed, score, message from checks
        where run_id = 'shapes' and task_id = '{list(SHAPES).index(shape)}' order by all
    """)
    assert [list(row) for row in rows] == SHAPES[shape]["checks"]


def test_lists_of_another_benchmark_decide_nothing(recorded: Results) -> None:
    """Which key of a list is the verdict is asked of each benchmark alone."""
    rows = recorded.rows("""
        select distinct run_id, source, check_name, is_passed from checks
        where run_id in ('others', 'listed') order by all
    """)
    assert rows == [("listed", "steps", "a", True), ("listed", "steps", "b", False)]


@pytest.mark.slow
def test_one_fact_counts_once(tmp_path: Path) -> None:
    """A verdict that three fields of a record hold is one check; two tests of one fate are two."""
    rows = [
        rollout(
            task,
            0,
            reward=float(task > 3),
            info={
                "db_check": {"db_match": task > 1, "db_reward": float(task > 1)},
                "breakdown": {"DB": float(task > 1), "TALK": float(task != 3)},
                "tests": {"test_one": task not in (1, 2), "test_two": task not in (1, 2)},
            },
        )
        for task in range(12)
    ]
    found = analyzed(tmp_path, {"a_rollouts.jsonl": rows}, needs=["checks"])
    counted = "select distinct check_name from checks where is_counted order by all"
    assert found.column(counted) == ["DB", "TALK", "test_one", "test_two"]
