"""OSWorld: a folder per task, with its steps and its result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.artifact import Kind
from pipeline.ingest import discover
from tests.fact_files import facts_of
from tests.results import Results, analyzed

RUN = "results/pyautogui/screenshot/m-7b"


def step(number: int, action: Any, response: Any = "So.", **more: Any) -> dict[str, Any]:
    """A line of a trajectory."""
    return {
        "step_num": number,
        "action_timestamp": f"20250902@1302{number:02}",
        "action": action,
        "response": response,
        "reward": 0,
        "done": False,
        "info": {},
        "screenshot_file": f"step_{number}.png",
        **more,
    }


def lines(*steps: Any) -> str:
    return "\n".join(one if isinstance(one, str) else json.dumps(one) for one in steps) + "\n"


CLICK = step(1, "import pyautogui\npyautogui.click(1, 593)")
DONE = step(2, "DONE", done=True, info={"done": True})
FILES = {
    f"{RUN}/chrome/a/traj.jsonl": lines(CLICK, step(1, "WAIT"), DONE),
    f"{RUN}/chrome/a/result.txt": "1.0\n",
    f"{RUN}/chrome/a/runtime.log": "started",
    # The step limit, and a part of the score; a line is damaged.
    f"{RUN}/os/b/traj.jsonl": lines(step(1, "WAIT"), '{"step_num": 2, "act', step(3, "WAIT")),
    f"{RUN}/os/b/result.txt": "0.25",
    # Neither of these was graded.
    f"{RUN}/os/c/traj.jsonl": lines(step(1, "WAIT"), {"Error": "os/c - 'arguments'"}),
    f"{RUN}/os/d/traj.jsonl": lines({"Error": "Time limit exceeded in os/d"}),
    f"{RUN}/os/d/result.txt": "",
    f"{RUN}/os/e/traj.jsonl": "",
    f"{RUN}/os/e/result.txt": "broken",
    # A trajectory that is lost.
    f"{RUN}/os/f/result.txt": "0\n",
    f"{RUN}/args.json": json.dumps({"max_steps": 3, "temperature": 0.5, "password": "x"}),
    f"{RUN}/all_result.json": json.dumps({"chrome": {"a": 1.0}}),
    # Another model, whose attempt has the same bytes.
    "results/pyautogui/screenshot/n-7b/os/d/traj.jsonl": lines(
        {"Error": "Time limit exceeded in os/d"}
    ),
}


test_attempts = facts_of(FILES, "osworld")


MODELS = (
    "old/pyautogui/screenshot/Org/m-7b",
    "new/pyautogui/screenshot/n-7b",
    "old/pyautogui/screenshot/n-7b",
    "old/pyautogui/som/o-7b",
    "old/pyautogui/screenshot/o-7b",
)


@pytest.fixture(scope="module")
def nested(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Models in folders of their organizations, and one whose responses could not be read."""
    waits = [step(n, "WAIT", response) for n, response in enumerate(("none", "Null", None, " "), 1)]
    run = "old/pyautogui/screenshot/silent/os"
    attempts = {f"{one}/os/a/traj.jsonl": lines(step(1, "WAIT", one), DONE) for one in MODELS}
    attempts[f"{run}/a/traj.jsonl"] = lines(*waits)
    attempts[f"{run}/b/traj.jsonl"] = lines(*waits, step(5, "DONE", "none of these"))
    needs = ("runs", "events", "staging.run_settings")
    return analyzed(tmp_path_factory.mktemp("nested"), attempts, needs=needs)


def test_a_model_below_its_organization(nested: Results) -> None:
    """The folders above both are its settings, and name it only beside another of its runs."""
    assert nested.rows("""
        select
            run_id,
            max(value) filter (name = 'action_space'),
            max(value) filter (name = 'observation_type')
        from staging.run_settings
        group by run_id
        order by run_id
    """) == [
        ("m-7b", "pyautogui", "screenshot"),
        ("new-n-7b", "pyautogui", "screenshot"),
        ("o-7b-pyautogui-screenshot", "pyautogui", "screenshot"),
        ("o-7b-pyautogui-som", "pyautogui", "som"),
        ("old-n-7b", "pyautogui", "screenshot"),
        ("silent", "pyautogui", "screenshot"),
    ]


def test_a_response_that_could_not_be_read(nested: Results) -> None:
    """It is no message: an attempt without another has written nothing."""
    silent = "from events where run_id = 'silent' and kind"
    assert nested.one(f"select count(*) {silent} = 'tool_call'") == 9
    assert nested.column(f"select text {silent} = 'message'") == ["none of these"]


def test_files(tmp_path: Path) -> None:
    """A trajectory of another kind is none of OSWorld; nor is a result without one in its run."""
    for name, content in {
        "m/os/a/traj.jsonl": lines({"thought": "so", "action": "x"}),
        "n/os/a/result.txt": "1.0",
        "run_rollouts.jsonl": lines({"reward": 1, "response": {}}),
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    artifacts = discover.artifacts((tmp_path,))
    assert [one.name for one in artifacts if one.kind is Kind.ROLLOUTS] == ["run_rollouts.jsonl"]
