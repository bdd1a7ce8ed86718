"""Attempts for tests that need to say only what an agent did and whether it passed."""

from __future__ import annotations

from typing import Any

from tests.results import Row, rollout, steps

Step = Any


def ok(*given: Step, response: Row | None = None, **fields: Any) -> Row:
    """An attempt that passes."""
    return {"reward": 1.0, "response": {"output": steps(*given), **(response or {})}, **fields}


def no(*given: Step, **fields: Any) -> Row:
    """The same, failed."""
    return {**ok(*given, **fields), "reward": 0.0}


def attempt(given: Row) -> Row:
    """One of a file of cases: the steps of what fails or passes, and the fields of its row."""
    fields = {name: value for name, value in given.items() if name not in ("fails", "passes")}
    return no(*given["fails"], **fields) if "fails" in given else ok(*given["passes"], **fields)


def wants(*actions: tuple[str, int]) -> Row:
    """The actions a task lists."""
    return {"expected_actions": [{"name": n, "kwargs": {"id": i, "x": None}} for n, i in actions]}


def did(tool: str, number: int, answer: str = "ok") -> Step:
    """A call of a tool on one thing."""
    return (tool, {"id": number}, answer)


def padded(name: str, rows: list[Row], plain: Row) -> list[Row]:
    """The rows, and a dozen passes of other tasks."""
    more = [rollout(900 + task, 0, **{**plain, "ask": f"{name} {task}"}) for task in range(12)]
    return rows + more
