"""What the verifier checked, recognised by the shape of its record."""

from __future__ import annotations

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
    files = {"shapes_rollouts.jsonl": rows}
    return analyzed(tmp_path_factory.mktemp("recorded"), files, needs=["checks"])


@pytest.mark.parametrize("shape", SHAPES)
def test_checks(shape: str, recorded: Results) -> None:
    """Every shape of checks is read, with verdict, score and message; what is none is left out."""
    rows = recorded.rows(f"""
        select source, check_name, is_passed, score, message from checks
        where run_id = 'shapes' and task_id = '{list(SHAPES).index(shape)}' order by all
    """)
    assert [list(row) for row in rows] == SHAPES[shape]["checks"]
