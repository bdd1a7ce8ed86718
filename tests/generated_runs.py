"""Seeded random runs: the files of a results folder, and what they hold by definition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.case_files import cases
from tests.hostile import SHORT, TRICKS
from tests.reference_run import Key, Rollout, Run
from tests.results import Row, asked, failure, rollout

BINARY = (0, 1, 0.0, 1.0)
GRADED = (0.0, 0.1, 0.25, 0.3, 0.5, 0.7, 1.0, 0.9999999999999998)
UNBOUNDED = (-100.0, -1.0, 0.0, 0.3, 1.0, 7.5)
UNUSABLE = (None, float("nan"), "N/A", "1.0", True)
CLASSES = (
    "timeout_exceeded skipped transient legitimate incomplete judge_failed remote_agent_error"
).split()


@dataclass
class Written:
    """A run's rows by the file they go to, what they mean, and the slice of each task."""

    run: Run
    files: dict[str, list[Row]]
    slices: dict[str, str] = field(default_factory=dict)


def written(seed: int, name: str, *, suite: str | None = None, most: int = 6) -> Written:
    """A run of random tasks; runs of one suite are asked the same questions."""
    random = Random(f"metrics {seed} {name}")
    rewards = random.choice((BINARY, BINARY, GRADED, UNBOUNDED if suite is None else GRADED))
    n_tasks = random.choice((1, 2, 3, 5, 8, 16)) if suite is None else random.randint(5, 6)
    writer = _Writer(random, suite or name, rewards, has_answers=random.random() < 0.5)
    expected = _expected(random, n_tasks, most) if random.random() < 0.6 else None
    asked_for = expected or _expected(random, n_tasks, most)
    remaining = random.choice((0.8, 1.0)) if expected else 1.0
    for key in sorted(asked_for):
        if random.random() < remaining:
            writer.record(key)
        elif random.random() < 0.7:
            writer.fail(key)
    for _ in range(random.randint(0, 4)):
        # Rows that nobody asked for: another repeat, another task; failures that were overcome.
        key = (str(random.randint(0, n_tasks)), random.randint(0, 2 * most))
        random.choice((writer.record, writer.fail))(key)
    inputs = None if expected is None else [writer.ask(key) for key in sorted(expected)]
    files = {f"{name}_rollouts.jsonl": writer.rows}
    if inputs is not None:
        files[f"{name}_rollouts_materialized_inputs.jsonl"] = inputs
    if writer.failed_rows:
        files[f"{name}_rollouts_failures.jsonl"] = writer.failed_rows
    for rows in files.values():
        random.shuffle(rows)
    is_bounded = all(r.reward is None or 0 <= r.reward <= 1 for r in writer.rollouts.values())
    run = Run(
        writer.rollouts,
        None if expected is None else frozenset(expected),
        writer.failures,
        threshold=1.0 if is_bounded and not is_scale(writer.rollouts.values()) else None,
        is_bounded=is_bounded,
    )
    return Written(run, files, {task: writer.category(task) for task in run.tasks()})


def is_scale(rollouts: Iterable[Rollout]) -> bool:
    """Most rewards are a half and more, hardly one is 1: what passes is not settled."""
    rewards = [row.reward for row in rollouts if row.reward is not None]
    full, high = (sum(reward >= least for reward in rewards) for least in (1 - 1e-9, 0.5))
    return 20 * full < len(rewards) < 2 * high


def _expected(random: Random, n_tasks: int, most: int) -> set[Key]:
    is_ragged = random.random() < 0.5
    repeats = random.randint(1, most)
    return {
        (str(task), index)
        for task in range(n_tasks)
        for index in range(random.randint(1, most) if is_ragged else repeats)
    }


class _Writer:
    """Rows and their meaning, side by side."""

    def __init__(
        self, random: Random, suite: str, rewards: tuple[Any, ...], *, has_answers: bool
    ) -> None:
        self.random = random
        self.suite = suite
        self.rewards = rewards
        self.has_answers = has_answers
        self.ease: dict[str, float] = {}
        self.scored_share = random.choice((0.85, 1.0))
        self.rollouts: dict[Key, Rollout] = {}
        self.failures: dict[Key, str | None] = {}
        self.rows: list[Row] = []
        self.failed_rows: list[Row] = []

    def ask(self, key: Key) -> Row:
        task, index = key
        question = f"{self.suite} asks {task}"
        return asked(int(task), index, ask=question, category=self.category(task))

    def category(self, task: str) -> str:
        return ("first", "second", "third")[int(task) % 3]

    def fail(self, key: Key) -> None:
        """One to three failed attempts, of which the last counts."""
        if key in self.failures:
            return
        for attempt in range(self.random.randint(1, 3)):
            kind = self.random.choice(CLASSES)
            by_name = {"_ng_failure_class": kind, "_ng_attempt_index": attempt, "reward": 0.0}
            self.failed_rows.append({**self.ask(key), "response": {"output": []}, **by_name})
            self.failures[key] = kind

    def record(self, key: Key) -> None:
        """A row, in most runs scored; a task is about as easy each time."""
        if key in self.rollouts:
            return
        ease = self.ease.setdefault(key[0], self.random.choice((0.0, 0.3, 0.7, 1.0)))
        reward: Any = (
            self.random.choice(self.rewards)
            if len(self.rewards) > 4
            else self.rewards[1 if self.random.random() < ease else 0]
        )
        is_scored = self.random.random() < self.scored_share
        extra: Row = {}
        if self.has_answers:
            extra["extracted_answer"] = self.random.choice(("a", "b", "c", None))
        components = {
            part: self.random.choice((0.0, 0.1, 0.25, 1.0, -2.0))
            for part in ("form", "content")
            if self.random.random() < 0.4
        }
        if components:
            extra["reward_components"] = components
        output, measures = self._output()
        row = self.ask(key)
        response: Row = {"output": output}
        if self.random.random() < 0.7:
            tokens = {
                "input_tokens": self.random.randint(1, 999),
                "output_tokens": self.random.randint(1, 99),
            }
            response["usage"] = tokens
            measures |= tokens
        if self.random.random() < 0.7:
            extra["total_run_time"] = self.random.randint(1, 999) / 7
            measures["duration_s"] = extra["total_run_time"]
        reported = reward if is_scored else self.random.choice(UNUSABLE)
        self.rows.append({**row, **extra, "response": response, "reward": reported})
        self.rollouts[key] = Rollout(
            float(reward) if is_scored else None,
            extra.get("extracted_answer"),
            components,
            measures,
        )

    def _output(self) -> tuple[list[Row], dict[str, float]]:
        items: list[Row] = []
        n_calls = self.random.randint(0, 3)
        for _ in range(n_calls):
            items.append({"type": "function_call", "name": "look", "arguments": "{}"})
            items.append({"type": "function_call_output", "output": "seen"})
        items.append({"type": "message", "role": "assistant", "content": "done"})
        return items, {"turns": n_calls + 1, "tool_calls": n_calls}


def folder(seed: int, n_runs: int) -> tuple[dict[str, list[Row]], dict[str, Written]]:
    """The files of many runs, and each by its name: most alone, some in suites of three."""
    runs: dict[str, Written] = {}
    for number in range(n_runs):
        suite = f"suite{number // 3}" if number % 9 < 3 and number + 3 <= n_runs else None
        name = f"{suite}_run{number}" if suite else f"alone{number}"
        runs[name] = written(seed, name, suite=suite)
    files = {path: rows for run in runs.values() for path, rows in run.files.items()}
    return files, runs


def scored(task: int, rewards: list[float], *, suite: str = "", **fields: Any) -> list[Row]:
    """One task's rows with these rewards, repeats counted from 0."""
    return [
        rollout(task, index, reward=reward, ask=f"{suite} asks {task}", **fields)
        for index, reward in enumerate(rewards)
    ]


WORDS = (
    *("done", "The answer is 42.", "2 of 3 passed", "error: no", "pass@1 is 50.0%", ""),
    *("never passes `a/b:0`", "run0/1:0 always passes", *TRICKS[:6], SHORT),
)
ERRORS = (
    *("Error: file /tmp/a7.txt not found", 'ValueError: bad | "x" <b> 17', "ok", "failed"),
    *("Traceback (most recent call last):\n  x\nKeyError: 'a'", "Error: 3 of 4 tests failed"),
    *("Error: `x` \\| y", '{"error": "no such id 55"}', '{"success": false, "n": 3}'),
)
TASKS = ("t 1", "a/b:0", "<b>|`x`", "täsk (2)", "3 of 4", "`run0/1:0`", "x" * 150, "50.0%")
REWARDS: tuple[tuple[Any, ...], ...] = (
    *((0.0, 1.0), (0.0, 1.0), (0.0, 1.0), (0.0, 0.3, 1.0), (1.0,), (0.0,)),
    *((-1.0, 0.5, 7.0), (0.0, 1.0, None), (0.5,), (None, "N/A")),
)


def odd(seed: int) -> dict[str, list[Row]]:
    """One or two small runs whose words, names and rewards look like claims of a report."""
    random = Random(seed)
    rewards, n_tasks, n_repeats = random.choice(REWARDS), random.randint(1, 4), random.randint(1, 3)
    is_named, kind = (
        random.random() < 0.4,
        random.choice(("equal", "words", "none", "tools", "odd")),
    )
    files: dict[str, list[Row]] = {}
    for run in range(random.randint(1, 2)):
        rows = [
            _odd_row(random, kind, task, index, random.choice(rewards), is_named=is_named)
            for task in range(n_tasks)
            for index in range(n_repeats)
            if random.random() > 0.08
        ]
        files[f"run{run}_rollouts.jsonl"] = rows
    if random.random() < 0.2:
        failed = failure(0, 5, "timeout_exceeded", message=random.choice(ERRORS))
        files["run0_rollouts_failures.jsonl"] = [failed]
    return files


def _odd_row(
    random: Random, kind: str, task: int, index: int, reward: Any, *, is_named: bool
) -> Row:
    message = WORDS[task] if kind == "equal" else random.choice(WORDS)
    output: list[Any] = []
    for number in range(random.randint(0, 3) if kind == "tools" else 0):
        name, call = random.choice(("read", "write<b>", "run_tests")), {"call_id": f"c{number}"}
        output.append({"type": "function_call", "name": name, "arguments": "{}", **call})
        output.append({"type": "function_call_output", "output": random.choice(ERRORS), **call})
    if kind == "odd":
        output = _items(random)
    elif kind != "none":
        output.append({"type": "message", "role": "assistant", "content": message})
    row = rollout(None if is_named else task, index, reward=reward, output=output, ask=f"q {task}")
    fields: dict[str, Any] = {
        "tests": [{"name": message or "x", "passed": False, "message": random.choice(ERRORS)}],
        "error": random.choice(ERRORS),
        "category": random.choice(("a", "b|c", "<i>")),
        "predicted": random.choice(WORDS),
        "expected_answer": random.choice(WORDS),
        "finish_reason": "length",
    }
    row |= {name: value for name, value in fields.items() if random.random() < 0.25}
    return {**row, "task_id": TASKS[task + 4 * (kind in ("tools", "equal"))]} if is_named else row


# Calls and results at odds: no ids, ids used twice, no JSON.
LONG = {"<deep>": "[" * 60 + "]" * 60} | {f"<{n}>": "x" * n for n in (300, 2000, 3000)}


def _table(name: str) -> tuple[Any, ...]:
    """The values of a table, with what is long at its length."""
    actual = []
    for value in cases("odd_rows", name):
        for mark, text in LONG.items():
            value = value.replace(mark, text) if isinstance(value, str) else value
        actual.append(value)
    return tuple(actual)


IDS, TOOLS, ARGUMENTS, OUTPUTS, TEXTS = map(
    _table, ("ids", "tools", "arguments", "outputs", "texts")
)


def _items(rng: Random) -> list[Any]:
    """A response's output of up to a dozen items in any order."""
    actual = [_item(rng) for _ in range(rng.randint(0, 12))]
    if actual and rng.random() < 0.1:
        return [actual[:2], *actual[2:]]
    return actual


def _item(rng: Random) -> Any:
    kind = rng.choices(("call", "result", "message", "other"), weights=(6, 6, 2, 1))[0]
    if kind == "call":
        return {
            "type": "function_call",
            "name": rng.choice(TOOLS),
            "arguments": rng.choice(ARGUMENTS),
            "call_id": rng.choice(IDS),
        }
    if kind == "result":
        item = {"type": "function_call_output", "output": rng.choice(OUTPUTS)}
        return item if rng.random() < 0.1 else {**item, "call_id": rng.choice(IDS)}
    if kind == "message":
        content = rng.choice(TEXTS)
        return {"type": "message", "role": rng.choice(("assistant", "user")), "content": content}
    return rng.choice(({"type": "reasoning", "summary": []}, {"type": "new_kind"}, "bare text"))
