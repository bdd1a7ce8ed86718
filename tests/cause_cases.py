"""Results folders put together from the tasks of causes.yaml, each with its root cause."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from tests.case_files import cases
from tests.results import Row, asked, failure, lines, rollout, steps

KINDS = ("holds", "nearly", "in passes")
UNEXPLAINED = "None UNEXPLAINED None"
NAMED = cases("causes", "named")
PROFILE: str = cases("causes", "profile")


@dataclass(frozen=True)
class Attempt:
    """One attempt at a task: a row with these fields, or what is there in its place."""

    row: Row
    # "row", "missing", "cut" (its line breaks off), or a failure class
    end: str = "row"

    @property
    def is_failure(self) -> bool:
        """Whether only the failures file tells of it."""
        return self.end not in ("row", "missing", "cut")


Attempts = list[Attempt]
MISSING = Attempt({}, "missing")


def fails(*given: Any, **fields: Any) -> Attempt:
    """An attempt with the reward 0; `response` is more of its response, `limit` its token limit."""
    return Attempt({"reward": 0.0, "output": steps(*given), **fields})


def passes(*given: Any, **fields: Any) -> Attempt:
    """An attempt with the reward 1."""
    return fails(*given, **{"reward": 1.0, **fields})


def truncated(*given: Any, limit: int = 1000, **fields: Any) -> Attempt:
    """An attempt that ends at its token limit."""
    ended = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    return fails(*given, response=ended, limit=limit, **fields)


def attempt(given: Any) -> Attempt:
    """One of the file."""
    if given == "missing":
        return MISSING
    fields = dict(given)
    kind, told = next((kind, fields.pop(kind)) for kind in (*MAKERS, *OTHERS) if kind in fields)
    if kind in MAKERS:
        return MAKERS[kind](*told, **fields)
    if kind == "failed":
        return Attempt(fields, told)
    if kind == "cut_line":
        return Attempt(told, "cut")
    made = passes if fields.pop("ok", kind == "spends") else fails
    if kind == "spends":
        # It takes so many tokens of its limit.
        usage = {"usage": {"input_tokens": 10, "output_tokens": told}}
        return made(*fields["items"], response=usage, limit=1000)
    if kind == "answered":
        # The verifier took its answer from the output.
        right = {"expected_answer": fields.pop("to", "42")}
        return made(f"It is {told}.", extracted_answer=told, **right, **fields)
    if kind == "assigns":
        # One change is expected, for Ada.
        expected = [{"name": "assign", "arguments": {"to": "ada"}}]
        items = [["assign", {"to": to}, "ok"] for to in told]
        found = ["find_owner", {}, "ok"]
        return made(found, *items, NAMED["done"], expected_actions=expected)
    # It looks for records and closes those it means.
    closed = ["close", {"ids": fields.get("ids", "1")}, "ok"]
    return made(["search", told, "3 records"], closed, NAMED["done"])


MAKERS = {"fails": fails, "passes": passes, "truncated": truncated}
OTHERS = ("failed", "cut_line", "spends", "answered", "assigns", "searches")
FINE = attempt(NAMED["fine"])


@dataclass(frozen=True)
class Case:
    """A task of run `a`, and of `b` where it says so; and the root cause that `a` should get."""

    rule: str
    kind: str
    benchmark: str
    a: Attempts
    # Rule, cause and confidence; none where the task always passes.
    then: str | None
    b: Attempts = field(default_factory=list)
    ask: str | None = None


def _three(
    then: str,
    *,
    benchmark: str = "desk",
    nearly_then: str | None = UNEXPLAINED,
    passes_then: str | None = UNEXPLAINED,
    **given: list[Any],
) -> list[Case]:
    """The three kinds of case for a rule.

    A sign that no task can tell counts where no pass of the benchmark bears it: where passes do,
    the task is in another benchmark.
    """
    own = {name: [attempt(each) for each in listed] for name, listed in given.items()}
    rule, even = then.split()[0], f"{benchmark}_even"
    return [
        Case(rule, "holds", benchmark, own["holds"], then, own.get("holds_b", [])),
        Case(rule, "nearly", benchmark, own["nearly"], nearly_then, own.get("nearly_b", [])),
        Case(rule, "in passes", even, own["in_passes"], passes_then, own.get("passes_b", [])),
    ]


def _whole(case: Row) -> Case:
    both = {name: [attempt(each) for each in case.get(name, [])] for name in ("a", "b")}
    return Case(**{**case, **both})


RULES = [case for each in cases("causes", "rules") for case in _three(**each)]
WHOLES = [_whole(case) for case in cases("causes", "wholes")]


def numbered(given: Iterable[Case]) -> list[tuple[Case, int]]:
    """Each case with its task's number, counted within a benchmark."""
    seen: dict[str, int] = defaultdict(int)
    found = []
    for case in given:
        found.append((case, seen[case.benchmark]))
        seen[case.benchmark] += 1
    return found


def padding(benchmark: str, plain: Attempt) -> list[Case]:
    """Plain passes at other tasks: enough to tell that no pass bears a sign."""
    return [Case("", "padding", benchmark, [plain], None) for _ in range(12)]


def blank(given: Iterable[Case]) -> list[Case]:
    """The same tasks in another benchmark, without a transcript: tokens tell that there was one."""
    none = {"output": [], "response": {"usage": {"input_tokens": 10, "output_tokens": 20}}}
    return [
        Case(case.rule, "blank", "blank", [replace(a, row={**a.row, **none}) for a in case.a], None)
        for case in given
        if not any(each.end == "cut" for each in case.a)
    ]


def files(given: Iterable[Case]) -> dict[str, str]:
    """The rollouts, inputs and failures of every benchmark and run."""
    texts: dict[str, str] = defaultdict(str)
    for case, task in numbered(given):
        for run, attempts in (("a", case.a), ("b", case.b)):
            stem = f"{case.benchmark}_{run}_rollouts"
            for place, each in enumerate(attempts):
                index = each.row.get("index", place)
                ask = f"{case.benchmark} {task if case.ask is None else case.ask}"
                texts[f"{stem}_materialized_inputs.jsonl"] += lines([asked(task, index, ask=ask)])
                name = f"{stem}_failures.jsonl" if each.is_failure else f"{stem}.jsonl"
                texts[name] += _line(each, task, index, ask)
    return texts


def _line(given: Attempt, task: int, index: int, ask: str) -> str:
    fields = {name: value for name, value in given.row.items() if name != "index"}
    if given.end == "missing":
        return ""
    if given.is_failure:
        return lines([failure(task, index, given.end, **fields)])
    response, limit = fields.pop("response", {}), fields.pop("limit", None)
    row = rollout(task, index, ask=ask, **fields)
    row["response"] |= response
    row["responses_create_params"] |= {} if limit is None else {"max_output_tokens": limit}
    return lines([row]) if given.end == "row" else lines([row])[:90] + "\n"
