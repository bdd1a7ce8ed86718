"""Random pairs of runs of one benchmark: the files of a results folder, and what they hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.comparison_reference import Side
from tests.generated_runs import is_scale
from tests.reference_run import Key, Rollout, Run
from tests.results import Row, asked

BINARY = (0, 1, 0.0, 1.0)
GRADED = (0.0, 0.1, 0.3, 0.7, 0.25, 1.0)
UNBOUNDED = (-1.0, 0.1, 0.3, 1.0, 7.5)
UNUSABLE = (None, float("nan"), "N/A", True)
CLASSES = ("timeout_exceeded", "transient", "judge_failed", "legitimate")
# How a task is in both runs; most are shared, and ask the same.
STANDINGS = (
    *["shared"] * 8,
    *("base only", "candidate only", "other question", "other truth"),
    *("empty in base", "empty in both", "varies in base", "varies in both"),
)
APART = ("base only", "candidate only", "other question")
KINDS = ("apart", "alike", "even", "steady", "reversed")
# Where the kind of pair wants as many repeats of every task in both runs.
N_EVEN = {"even": 2}
REVERSED = {
    "3": ("candidate only", 1.0),
    "6": ("candidate only", 1.0),
    "4": ("base only", 0.0),
    "7": ("base only", 0.0),
}


@dataclass(frozen=True)
class Settings:
    """What a profile says of every pair; None where it says nothing."""

    threshold: float | None = None
    has_groups: bool = False
    has_gaps: bool = False


@dataclass(frozen=True)
class Written:
    """Two runs as written: their files by path, and what they mean."""

    name: str
    sides: tuple[Side, Side]
    files: dict[str, list[Row]]
    slices: dict[str, str]


def pair(random: Random, name: str, settings: Settings, *, kind: str | None = None) -> Written:
    """Two runs in a folder of their own, which names their benchmark."""
    kind = kind or random.choice((*["any"] * 6, *KINDS))
    standings = _standings(random, kind)
    rewards = random.choice((BINARY, BINARY, GRADED, GRADED, UNBOUNDED))
    if kind == "reversed":
        settings = replace(settings, has_gaps=False)
    fields = {task: _fields(random, int(task), settings) for task in standings}
    eases = {task: random.choice((0.0, 0.3, 0.7, 1.0)) for task in standings}
    sides: list[_Writer] = []
    for side in ("base", "candidate"):
        if side == "candidate" and kind == "alike":
            sides.append(sides[0].renamed("candidate"))
            continue
        writer = _Writer(random, name, side, rewards, standings, fields, eases)
        writer.fixed = _fixed(kind, side)
        if kind == "even":
            writer.scored_share = 1.0
        writer.fill(n_repeats=random.choice((1, 2, 3)) if writer.fixed else N_EVEN.get(kind))
        sides.append(writer)
    is_bounded = all(writer.is_bounded() for writer in sides)
    scored = [row for writer in sides for row in writer.rollouts.values()]
    threshold = settings.threshold
    if threshold is None and is_bounded and not is_scale(scored):
        threshold = 1.0
    groups = {task: own["family"] for task, own in fields.items() if "family" in own}
    base, candidate = (writer.side(threshold, groups, is_bounded=is_bounded) for writer in sides)
    return Written(
        name,
        (base, candidate),
        {path: rows for writer in sides for path, rows in writer.files(name).items()},
        {task: own["category"] for task, own in fields.items() if "category" in own},
    )


def _standings(random: Random, kind: str) -> dict[str, str]:
    """How each task is in both runs."""
    if kind == "reversed":
        shared = dict.fromkeys(("0", "1", "2"), "shared")
        return shared | {task: standing for task, (standing, _) in REVERSED.items()}
    offered = {"any": STANDINGS, "apart": APART}.get(kind, ("shared",))
    n_tasks = 26 if kind == "even" else random.choice((1, 1, 2, 3, 5, 8, 14))
    return {str(task): random.choice(offered) for task in range(n_tasks)}


def _fixed(kind: str, side: str) -> dict[str, float] | None:
    """The reward of every rollout of a task, where the kind of pair settles it."""
    if kind == "steady":
        return dict.fromkeys(map(str, range(14)), 0.1 if side == "base" else 0.7)
    if kind == "reversed":
        # No slice rises, one falls; but the candidate has more of the easy tasks.
        shared = {"0": 1.0, "1": 0.0, "2": 1.0 if side == "base" else 0.0}
        return shared | {task: reward for task, (_, reward) in REVERSED.items()}
    return None


def shuffled(random: Random, written: Written, name: str) -> Written:
    """The same pair under another name, its rows in another order."""
    files = {}
    for path, rows in reversed(written.files.items()):
        own = [_renamed(row, written.name, name) for row in rows]
        random.shuffle(own)
        files[path.replace(written.name, name)] = own
    return replace(written, name=name, files=files)


def _renamed(row: Row, old: str, new: str) -> Row:
    request = row["responses_create_params"]
    messages = [{**m, "content": m["content"].replace(old, new)} for m in request["input"]]
    return {**row, "responses_create_params": {**request, "input": messages}}


def _fields(random: Random, task: int, settings: Settings) -> Row:
    """What the rows of a task say of it: its category, unless there are gaps, and its family."""
    fields: Row = {}
    if not settings.has_gaps or random.random() < 0.7:
        fields["category"] = ("first", "second", "third")[task % 3]
    if settings.has_groups and random.random() < 0.8:
        fields["family"] = f"family {random.randint(0, 8)}"
    return fields


class _Writer:
    """One run's rows and their meaning, side by side."""

    def __init__(
        self,
        random: Random,
        name: str,
        side: str,
        rewards: tuple[Any, ...],
        standings: dict[str, str],
        fields: dict[str, Row],
        eases: dict[str, float],
    ) -> None:
        self.random, self.name, self.side_name = random, name, side
        self.rewards, self.standings, self.fields = rewards, standings, fields
        self.eases = eases
        self.fixed: dict[str, float] | None = None
        self.scored_share = random.choice((0.8, 1.0))
        self.rollouts: dict[Key, Rollout] = {}
        self.failures: dict[Key, str | None] = {}
        self.expected: set[Key] | None = None
        self.questions: dict[str, set[tuple[str, str]]] = {}
        self.rows: list[Row] = []
        self.failed_rows: list[Row] = []
        self.input_rows: list[Row] = []

    def renamed(self, side: str) -> _Writer:
        """The same rows as another run's."""
        other = _Writer(
            Random(0), self.name, side, self.rewards, self.standings, self.fields, self.eases
        )
        vars(other).update({**vars(self), "side_name": side})
        return other

    def fill(self, *, n_repeats: int | None) -> None:
        """Rows for the tasks of this side, of which some are missing where they were expected."""
        random = self.random
        tasks = [t for t, standing in self.standings.items() if self._has(standing)]
        most = random.choice((1, 1, 2, 3, 4))
        is_ragged = random.random() < 0.5
        wanted = {
            (task, index)
            for task in tasks or list(self.standings)[:1]
            for index in range(n_repeats or (random.randint(1, most) if is_ragged else most))
        }
        self.expected = wanted if n_repeats is None and random.random() < 0.6 else None
        remaining = random.choice((0.5, 0.8, 1.0)) if self.expected else 1.0
        for key in sorted(wanted):
            if random.random() < remaining or not self.rows:
                self.record(key, is_sure=not self.rows)
            elif random.random() < 0.5:
                self.fail(key)
        if n_repeats is None and random.random() < 0.2:
            # A row that nobody asked for.
            self.record((min(wanted)[0], 9), is_sure=False)
        for key in sorted(self.expected or ()):
            self.input_rows.append(self.ask(key, is_input=True))

    def _has(self, standing: str) -> bool:
        return standing != ("candidate only" if self.side_name == "base" else "base only")

    def ask(self, key: Key, *, is_input: bool) -> Row:
        """The request of a row; what it asks is noted, of inputs where nothing else is."""
        task, index = key
        standing, question, truth = self.standings[task], f"{self.name} asks {task}", "42"
        is_base = self.side_name == "base"
        if standing == "other question" and not is_base:
            question += " otherwise"
        if standing == "other truth" and not is_base:
            truth = "43"
        if standing == "empty in both" or (standing == "empty in base" and is_base):
            question = ""
        if standing == "varies in both" or (standing == "varies in base" and is_base):
            question += f" at {index}"
        if not is_input or not any(known == task for known, _ in self.rollouts):
            self.questions.setdefault(task, set()).add((question, truth))
        return asked(int(task), index, ask=question, expected_answer=truth, **self.fields[task])

    def fail(self, key: Key) -> None:
        """A failed attempt."""
        kind = self.random.choice(CLASSES)
        by_name = {"_ng_failure_class": kind, "_ng_attempt_index": 0, "reward": 0.0}
        self.failed_rows.append({**self._request(key), "response": {"output": []}, **by_name})
        self.failures[key] = kind

    def _request(self, key: Key) -> Row:
        """A request that is no evidence of what was asked."""
        before = {task: set(own) for task, own in self.questions.items()}
        request = self.ask(key, is_input=False)
        self.questions = before
        return request

    def record(self, key: Key, *, is_sure: bool) -> None:
        """A row, in most runs scored; a task is about as easy each time."""
        random = self.random
        if self.rewards is BINARY:
            passed = random.random() < self.eases[key[0]]
            reward: Any = random.choice(self.rewards[1::2] if passed else self.rewards[::2])
        else:
            alike = self.rewards[int(key[0]) % len(self.rewards)]
            reward = alike if random.random() < 0.5 else random.choice(self.rewards)
        if self.fixed:
            reward = self.fixed[key[0]]
        is_scored = is_sure or bool(self.fixed) or random.random() < self.scored_share
        output, measures = self._output()
        response: Row = {"output": output}
        extra: Row = {}
        if random.random() < 0.7:
            response["usage"] = {
                "input_tokens": random.randint(1, 99_999),
                "output_tokens": random.choice((77, 77, 77, 1001)),
            }
            measures |= response["usage"]
        if self.fixed or random.random() < 0.7:
            extra["total_run_time"] = random.choice((0.1, 0.7, 123.4))
            if self.fixed:
                # One and the same in all rows would be no measurement.
                extra["total_run_time"] /= 1 if self.side_name == "base" else 0.001
            measures["duration_s"] = extra["total_run_time"]
        reported = reward if is_scored else random.choice(UNUSABLE)
        request = self.ask(key, is_input=False)
        self.rows.append({**request, **extra, "response": response, "reward": reported})
        self.rollouts[key] = Rollout(float(reward) if is_scored else None, measures=measures)

    def _output(self) -> tuple[list[Row], dict[str, float]]:
        items: list[Row] = []
        n_calls, n_errors = self.random.choice((0, 0, 1, 2, 3)), 0
        for number in range(n_calls):
            is_error = self.random.random() < 0.2
            n_errors += is_error
            call = {"type": "function_call", "name": "look", "call_id": f"c{number}"}
            answer = {"type": "function_call_output", "call_id": f"c{number}"}
            items.append({**call, "arguments": "{}"})
            items.append({**answer, "output": "Error: nothing there" if is_error else "seen"})
        has_answer = not n_calls or self.random.random() < 0.8
        if has_answer:
            items.append({"type": "message", "role": "assistant", "content": "done"})
        measures = {"n_turns": n_calls + has_answer, "n_tool_calls": n_calls}
        return items, {**measures, "n_tool_errors": n_errors}

    def is_bounded(self) -> bool:
        """Every reward is within 0 and 1."""
        return all(r.reward is None or 0 <= r.reward <= 1 for r in self.rollouts.values())

    def side(self, threshold: float | None, groups: dict[str, str], *, is_bounded: bool) -> Side:
        """What the rows mean."""
        expected = None if self.expected is None else frozenset(self.expected)
        return Side(
            Run(self.rollouts, expected, self.failures, threshold, groups, is_bounded),
            {task: frozenset(own) for task, own in self.questions.items()},
        )

    def files(self, name: str) -> dict[str, list[Row]]:
        """Rows by path; `<benchmark>/data/` names the benchmark."""
        stem = f"{name}/data/{name}_{self.side_name}_rollouts"
        by_name = {
            f"{stem}.jsonl": self.rows,
            f"{stem}_materialized_inputs.jsonl": self.input_rows,
            f"{stem}_failures.jsonl": self.failed_rows,
        }
        return {path: list(rows) for path, rows in by_name.items() if rows}
