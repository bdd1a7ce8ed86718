"""Results folders put together from tasks, each with the root cause that it should get."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tests.cause_attempts import Attempt, Attempts
from tests.results import asked, failure, lines, rollout

KINDS = ("holds", "nearly", "in passes")
UNEXPLAINED = "None UNEXPLAINED None"


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


def three(
    then: str,
    *,
    benchmark: str = "desk",
    holds: Attempts,
    nearly: Attempts,
    in_passes: Attempts,
    nearly_then: str | None = UNEXPLAINED,
    passes_then: str | None = UNEXPLAINED,
    holds_b: Attempts | None = None,
    nearly_b: Attempts | None = None,
    passes_b: Attempts | None = None,
) -> list[Case]:
    """The three kinds of case for a rule.

    A sign that no task can tell counts where no pass of the benchmark bears it: where passes do,
    the task is in another benchmark.
    """
    rule = then.split()[0]
    return [
        Case(rule, "holds", benchmark, holds, then, holds_b or []),
        Case(rule, "nearly", benchmark, nearly, nearly_then, nearly_b or []),
        Case(rule, "in passes", f"{benchmark}_even", in_passes, passes_then, passes_b or []),
    ]


def numbered(cases: Iterable[Case]) -> list[tuple[Case, int]]:
    """Each case with its task's number, counted within a benchmark."""
    seen: dict[str, int] = defaultdict(int)
    found = []
    for case in cases:
        found.append((case, seen[case.benchmark]))
        seen[case.benchmark] += 1
    return found


def padding(benchmark: str, plain: Attempt) -> list[Case]:
    """Plain passes at other tasks: enough to tell that no pass bears a sign."""
    return [Case("", "padding", benchmark, [plain], None) for _ in range(12)]


def blank(cases: Iterable[Case]) -> list[Case]:
    """The same tasks in another benchmark, without a transcript: tokens tell that there was one."""
    none = {"output": [], "response": {"usage": {"input_tokens": 10, "output_tokens": 20}}}
    return [
        Case(case.rule, "blank", "blank", [replace(a, row={**a.row, **none}) for a in case.a], None)
        for case in cases
        if not any(attempt.end == "cut" for attempt in case.a)
    ]


def files(cases: Iterable[Case]) -> dict[str, str]:
    """The rollouts, inputs and failures of every benchmark and run."""
    texts: dict[str, str] = defaultdict(str)
    for case, task in numbered(cases):
        for run, attempts in (("a", case.a), ("b", case.b)):
            stem = f"{case.benchmark}_{run}_rollouts"
            for place, attempt in enumerate(attempts):
                index = attempt.row.get("index", place)
                ask = f"{case.benchmark} {task if case.ask is None else case.ask}"
                texts[f"{stem}_materialized_inputs.jsonl"] += lines([asked(task, index, ask=ask)])
                name = f"{stem}_failures.jsonl" if attempt.is_failure else f"{stem}.jsonl"
                texts[name] += _line(attempt, task, index, ask)
    return texts


def _line(attempt: Attempt, task: int, index: int, ask: str) -> str:
    fields = {name: value for name, value in attempt.row.items() if name != "index"}
    if attempt.end == "missing":
        return ""
    if attempt.is_failure:
        return lines([failure(task, index, attempt.end, **fields)])
    response, limit = fields.pop("response", {}), fields.pop("limit", None)
    row = rollout(task, index, ask=ask, **fields)
    row["response"] |= response
    row["responses_create_params"] |= {} if limit is None else {"max_output_tokens": limit}
    return lines([row]) if attempt.end == "row" else lines([row])[:90] + "\n"
