"""OSWorld: a folder per task, with its steps and its result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pipeline.artifact import Kind
from pipeline.ingest import discover
from tests.lean import RECORDED
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


def read(folder: Path) -> Results:
    return analyzed(folder, FILES, needs=RECORDED)


def test_attempts(tmp_path: Path) -> None:
    """The result is the score, a folder the task, its domain a slice; errors are recorded."""
    rows = read(tmp_path).rows(
        """
        select
            task_id,
            verifier->>'$.metadata.domain',
            reward,
            verifier->>'error_message',
            limit_reached
        from rollouts
        where run_id = 'm-7b'
        order by task_id
        """
    )
    assert rows == [
        ("a", "chrome", 1.0, None, None),
        ("b", "os", 0.25, None, "max_steps"),
        ("c", "os", None, "arguments", None),
        ("d", "os", None, "Time limit exceeded in os/d", "Time limit exceeded"),
        ("e", "os", None, None, None),
        ("f", "os", 0.0, None, None),
    ]


def test_runs(tmp_path: Path) -> None:
    """A run is the folder of a model; its settings are its arguments, else its folders' names."""
    results = read(tmp_path)
    assert results.rows("select run_id, benchmark, n_rollouts from runs order by all") == [
        ("m-7b", "osworld", 6),
        ("n-7b", "osworld", 1),
    ]
    settings = results.rows("select distinct name, value from raw.config_values order by all")
    assert settings == [
        ("action_space", "pyautogui"),
        ("max_steps", "3"),
        ("observation_type", "screenshot"),
        ("temperature", "0.5"),
    ]


def test_steps(tmp_path: Path) -> None:
    """A response is a message, also of several actions; each action is a call by its code."""
    events = read(tmp_path).rows(
        """
        select kind, coalesce(tool, ''), text
        from events
        where task_id = 'a'
        order by seq
        """
    )
    assert [(kind, tool) for kind, tool, _ in events if kind != "tool_result"] == [
        ("message", ""),
        ("tool_call", "pyautogui.click"),
        ("tool_call", "WAIT"),
        ("message", ""),
        ("tool_call", "DONE"),
    ]


def test_nothing_is_lost(tmp_path: Path) -> None:
    """A damaged line and a result without a number are rejects; other lines are of the attempt."""
    results = read(tmp_path)
    rejects = results.rows("select source_file, source_line, reason from rejects order by all")
    assert rejects == [
        (f"{RUN}/os/b/traj.jsonl", 2, rejects[0][2]),
        (f"{RUN}/os/e/traj.jsonl", 2, "result.txt has no number"),
    ]
    assert "not JSON" in rejects[0][2]


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
