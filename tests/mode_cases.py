"""The rollouts of tests/cases/modes.yaml: those that show each failure mode, nearly do, or pass.

A sign of the trajectory counts only where passes show that it separates: every benchmark has a
dozen plain passes beside its cases. Passes that bear a sign stand in a second one, where it must
not count.
"""

from __future__ import annotations

from typing import Any

from tests.case_files import cases
from tests.results import Row, rollout, steps

Step = Any
NAMED = cases("modes", "named")
CLEAN, LOOKED, TRIED, WROTE = (NAMED[name] for name in ("clean", "looked", "tried", "wrote"))
CUT, SPENT = NAMED["cut"], NAMED["spent"]
NO_TOOL, READ = NAMED["no_tool"], NAMED["read"]
# By benchmark: the mode, attempts that fail by it (`shows`), tasks where none does (`near`), and
# attempts with its signs that pass (`passes`).
BENCHMARKS = {name: cases("modes", name) for name in ("tools", "acts", "answers")}


def ok(*given: Step, response: Row | None = None, **fields: Any) -> Row:
    """An attempt that passes."""
    return {"reward": 1.0, "response": {"output": steps(*given), **(response or {})}, **fields}


def no(*given: Step, **fields: Any) -> Row:
    """The same, failed."""
    return {**ok(*given, **fields), "reward": 0.0}


def attempt(given: Row) -> Row:
    """One of the file: the steps of what fails or passes, and the fields of its row."""
    fields = {name: value for name, value in given.items() if name not in ("fails", "passes")}
    return no(*given["fails"], **fields) if "fails" in given else ok(*given["passes"], **fields)


def wants(*actions: tuple[str, int]) -> Row:
    """The actions a task lists."""
    return {"expected_actions": [{"name": n, "kwargs": {"id": i, "x": None}} for n, i in actions]}


def did(tool: str, number: int, answer: str = "ok") -> Step:
    return (tool, {"id": number}, answer)


def answers(said: str | None, right: str) -> Row:
    return {"extracted_answer": said, "expected_answer": right}


def padded(name: str, rows: list[Row], plain: Row) -> list[Row]:
    """The rows, and passes of other tasks, enough to tell that no pass bears a sign."""
    more = [rollout(900 + task, 0, **{**plain, "ask": f"{name} {task}"}) for task in range(12)]
    return rows + more


def rows(benchmark: str, *roles: str) -> tuple[list[Row], dict[str, tuple[str, str]]]:
    """The rows of a run, a task for every list of attempts; and what each task is there for."""
    found: list[Row] = []
    tasks: dict[str, tuple[str, str]] = {}
    for case in BENCHMARKS[benchmark]:
        given = {"shows": [case["shows"]], "near": case["near"], "passes": [case["passes"]]}
        for role in roles:
            for attempts in given[role]:
                task = len(tasks)
                tasks[str(task)] = (case["mode"], role)
                for index, each in enumerate(map(attempt, attempts)):
                    asked = f"{each.get('ask', 'Please.')} {benchmark} {roles} {task}"
                    found.append(rollout(task, index, **{**each, "ask": asked}))
    plain = attempt(cases("modes", "plain")[benchmark])
    return padded(f"{benchmark} {roles}", found, plain), tasks
