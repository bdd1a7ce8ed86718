"""Names that a shell offers while a command is typed."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.results import BLADE, call


def offered(words: str, folder: Path) -> list[str]:
    """What bash is offered for the last word."""
    environment = {
        **os.environ,
        "_BLADE_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    done = subprocess.run(
        [str(BLADE)], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return [line.removeprefix("plain,") for line in done.stdout.splitlines() if line]


@pytest.mark.slow
def test_runs_and_tasks_of_the_named_warehouse(demo: Path, tmp_path: Path) -> None:
    """Runs for a command about runs; runs, then the tasks of one, for a command about a task."""
    warehouse = f"--warehouse {demo.parent}"
    runs = ["quick_math_aster-8b", "quick_math_birch-70b"]
    assert offered(f"blade failures {warehouse} quick", tmp_path) == runs
    assert offered(f"blade why {warehouse} quick_math_b", tmp_path) == ["quick_math_birch-70b/"]
    tasks = offered(f"blade why {warehouse} quick_math_birch-70b/2", tmp_path)
    assert tasks == [f"quick_math_birch-70b/{task}" for task in (2, 20, 21, 22, 23, 24)]


@pytest.mark.slow
def test_nothing_where_there_is_no_warehouse(tmp_path: Path) -> None:
    assert offered(f"blade failures --warehouse {tmp_path} a", tmp_path) == []
    assert offered("blade failures a", tmp_path) == []


@pytest.mark.slow
def test_a_name_that_a_shell_would_run_is_not_offered(tmp_path: Path) -> None:
    """A shell inserts what it is offered unquoted."""
    results = tmp_path / "results"
    results.mkdir()
    rows = [
        {"task_id": task, "reward": 1.0, "response": {"output": []}}
        for task in ("plain", "p$(touch x)", "p;ls", "p q")
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (results / "a_rollouts.jsonl").write_text(lines)
    assert call("analyze", results, "--out", tmp_path / "blade_out").code == 0
    assert offered("blade why a/p", tmp_path) == ["a/plain"]
