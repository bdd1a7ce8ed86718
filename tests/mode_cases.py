"""Rollouts that show each failure mode, that nearly do, and that pass though they look alike.

A sign of the trajectory counts only where passes show that it separates: every benchmark has a
dozen plain passes beside its cases. Passes that bear a sign stand in a second one, where it must
not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.results import Row, called, rollout, said

# A task is a list of attempts; an attempt is a row without its place.
Task = list[Row]
# A call with its answer, a call that nobody answered, or words.
Step = tuple[str, Any, str] | tuple[str, Any] | str


@dataclass(frozen=True)
class Case:
    """Attempts that fail by the mode; tasks where none does; attempts with its signs that pass."""

    mode: str
    shows: Task
    near: list[Task]
    passes: Task


def steps(*given: Step) -> list[Row]:
    """The items of an output; arguments that are text stay as they are."""
    items: list[Row] = []
    for step in given:
        if isinstance(step, str):
            items += said(step)
        else:
            items += called(step[0], step[1], step[2] if len(step) == 3 else None)
    return items


def ok(*given: Step, response: Row | None = None, **fields: Any) -> Row:
    """An attempt that passes."""
    return {"reward": 1.0, "response": {"output": steps(*given), **(response or {})}, **fields}


def no(*given: Step, **fields: Any) -> Row:
    """The same, failed."""
    return {**ok(*given, **fields), "reward": 0.0}


CUT = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
SPENT = {"usage": {"input_tokens": 10, "output_tokens": 40}}
UNSPENT = {"usage": {"input_tokens": 10, "output_tokens": 0}}
FULL = "Error: disk full"
WROTE: Step = ("write", {"text": "b"}, "ok")
TRIED: Step = ("write", {"text": "a"}, FULL)
LOOKED: Step = ("search", {"q": "x"}, "nothing")
SINCE: Step = ("search", {"q": "x", "since": 1}, "one")
MAILED: Step = ("send", {"to": "kofi.berg@desk.example"}, "sent")
NO_TOOL: Step = ("frobnicate", {}, "Error: unknown tool: frobnicate")
CLEAN = (LOOKED, "Here it is.")

# Nothing says which tools change something, so any call that works counts.
TOOLS = [
    Case(
        "CUT_OFF",
        [no(*CLEAN, timed_out=True)],
        [[no(*CLEAN, timed_out=False)], [no(LOOKED, "The request ran into a timeout.")]],
        [ok(*CLEAN, timed_out=True)],
    ),
    Case(
        "SANDBOX_ERROR",
        [no(*CLEAN, sandbox_error="container died")],
        [[no(*CLEAN, sandbox_error="none")], [no(*CLEAN, sandbox_error=None)]],
        [ok(*CLEAN, sandbox_error="container died")],
    ),
    Case(
        "MODEL_ERROR",
        [no(*CLEAN, response={"error": {"code": 500, "message": "no upstream"}})],
        [[no(*CLEAN, response={"error": None})]],
        [ok(*CLEAN, response={"error": {"message": "upstream"}})],
    ),
    Case(
        "UNGRADED",
        [no(*CLEAN, verifier_error="no such table")],
        [[no(*CLEAN, verifier_error="")], [no(*CLEAN, judge_error="None")]],
        [ok(*CLEAN, verifier_error="no such table")],
    ),
    Case(
        "UNSTABLE_VERDICT",
        [ok(WROTE, "Done."), no(WROTE, "Done.")],
        [[ok(WROTE, "Done."), no(TRIED, "Done.")], [ok(WROTE, "Done."), no(WROTE, "Ready.")]],
        [ok(WROTE, "Done."), ok(WROTE, "Done.")],
    ),
    Case(
        "CUT_OFF",
        [no(*CLEAN, context_length_exceeded_error=True)],
        [[no(*CLEAN, context_length_exceeded_error=False)]],
        [ok(*CLEAN, context_length_exceeded_error=True)],
    ),
    Case(
        "RAW_TOOL_CALL",
        [no('<tool_call>{"name":"write"}</tool_call>')],
        [[no("Use the tool call `write` and all is well.")]],
        [ok('<tool_call>{"name":"write"}</tool_call>')],
    ),
    Case(
        "REFUSAL",
        [no("I'm sorry, but I can't help with that request.")],
        [
            [no(WROTE, "I can't help with the rest.")],
            [no("Passengers are not allowed to do this.")],
            [no("For safety reasons the valve stays closed; I cannot find another.")],
        ],
        [ok("I'm sorry, but I can't help with that request.")],
    ),
    Case(
        "MALFORMED_ARGUMENTS",
        [no(("write", '{"text": ', "Error: not JSON"), "Done.")],
        [
            [no(("write", '{"text": ', "Error: not JSON"), WROTE, "Done.")],
            [no(("write", "", "Error: no text"), "Done.")],
            [no(("write", "null", "Error: no text"), "Done.")],
        ],
        [ok(("write", '{"text": ', "Error: not JSON"), "Done.")],
    ),
    Case(
        "MALFORMED_ARGUMENTS",
        [no(WROTE, ("write", '{"text": "a",}'))],
        [[no(("write", '{"text": "a",}'), WROTE)]],
        [ok(WROTE, ("write", '{"text": "a",}'))],
    ),
    Case(
        "UNDECLARED_TOOL",
        [no(NO_TOOL, "There is no way to do it.")],
        [
            [no(NO_TOOL, WROTE, "Done.")],
            [no(("query", {"sql": "x"}, "Error: no such function: FROBNICATE"), "No.")],
            [no(("user", {"id": 1}, "Error executing tool user: name not found"), "No.")],
            [no(("user", {"id": 1}, "Error: invalid tool arguments"), "No.")],
        ],
        [ok(NO_TOOL, "There is no way to do it.")],
    ),
    Case(
        "THRASH",
        [no(LOOKED, TRIED, TRIED, TRIED, "All is done.")],
        [
            [no(TRIED, TRIED, "All is done.")],
            [no(TRIED, TRIED, TRIED, WROTE, "All is done.")],
            [no(*(("write", {"text": str(n)}, FULL) for n in range(4)), "All is done.")],
        ],
        [ok(LOOKED, TRIED, TRIED, TRIED, "All is done.")],
    ),
    Case(
        "THRASH",
        # The same call worked twice before; the last one was never answered.
        [no(*(("write", {"text": "a"}, "ok"),) * 2, TRIED, TRIED, TRIED, ("write", {"text": "a"}))],
        [[no(TRIED, TRIED, TRIED, ("write", {"text": "a"}, "ok"))]],
        [ok(TRIED, TRIED, TRIED, ("write", {"text": "a"}))],
    ),
    Case(
        "ERROR_IGNORED",
        [no(TRIED, "All is done.")],
        [
            [no(TRIED, "I could not write it.")],
            [no("I will write it now.", TRIED)],
            [no(TRIED, WROTE, "All is done.")],
        ],
        [ok(TRIED, "All is done.")],
    ),
    Case(
        "STOPPED_AT_ERROR",
        [no(TRIED, "I could not write it."), no("I will write it now.", TRIED)],
        [[no(TRIED, WROTE, "I could not write the rest.")], [no(WROTE, "I could not do more.")]],
        [ok(TRIED, "I could not write it.")],
    ),
    Case("NO_ACTION", [no("It is done.")], [[no(LOOKED, "It is done.")]], [ok("It is done.")]),
    Case(
        "SKIPPED_LOOKUP",
        [no(MAILED, ("search", {"q": "kofi"}, "kofi.berg@desk.example"), "Sent.")],
        [
            [no(MAILED, "Sent.", ask="Write to kofi.berg@desk.example, please.")],
            [no(("search", {"q": "kofi"}, '["KOFI.BERG@desk.example"]'), MAILED, "Sent.")],
            [no(("search", {"q": "kofi"}, "koffi.berg@desk.example"), MAILED, "Sent.")],
        ],
        [ok(MAILED, "Sent.")],
    ),
    Case(
        "DROPPED_FILTER",
        [ok(SINCE, "One."), ok(SINCE, "One, too."), no(LOOKED, "Two.")],
        [
            [ok(SINCE, "One."), no(LOOKED, "Two.")],
            [ok(SINCE, "One."), ok(SINCE, "One, too."), no(SINCE, "Two.")],
            [ok(SINCE, "One."), ok(LOOKED, "One, too."), no(LOOKED, "Two.")],
        ],
        [ok(LOOKED, "One.")],
    ),
    Case(
        "MISSING_CALL",
        [ok(LOOKED, WROTE, "A."), ok(LOOKED, WROTE, "B."), no(LOOKED, "C.")],
        [
            [ok(LOOKED, WROTE, "A."), no(LOOKED, "C.")],
            [ok(LOOKED, WROTE, "A."), ok(LOOKED, "B."), no(LOOKED, "C.")],
        ],
        [ok(LOOKED, "A."), ok(LOOKED, "B.")],
    ),
    Case(
        "FALSE_SELF_CHECK",
        [no(("test", {}, "===== 5 passed in 0.12s ====="), "Done.")],
        [
            [no(("test", {}, "== 1 failed, 5 passed in 0.12s =="), "Done.")],
            [no(("test", {}, "5 passed in 0.12s"), WROTE, "Done.")],
        ],
        [ok(("test", {}, "===== 5 passed in 0.12s ====="), "Done.")],
    ),
    Case(
        "CHECKS_FAILED",
        [no(*CLEAN, tests={"opens": True, "saves": False, "near": False})],
        [
            [no(*CLEAN, tests={"opens": True, "saves": True})],
            [no(*CLEAN, question="Last time 3 passed, 2 failed. Why?")],
        ],
        [ok(*CLEAN, tests={"opens": True, "saves": False, "near": True})],
    ),
    Case(
        "NEAR_MISS",
        [
            no(*CLEAN, tests={"opens": True, "saves": True, "near": False}),
            no(*CLEAN, tests={"opens": False, "saves": True, "near": True}),
        ],
        [[no(*CLEAN, tests={"opens": True, "saves": False})]],
        [ok(*CLEAN, tests={"opens": True, "saves": True, "near": True})],
    ),
    Case(
        "VERIFIER_REASON",
        [no(*CLEAN, failure_reason=f"The wrong cell was changed. {'x' * 100}")],
        [[no(*CLEAN, failure_reason="none", error_mode="correct", agent_error_kind="other")]],
        [ok(*CLEAN, failure_reason=f"The wrong cell was changed. {'x' * 100}")],
    ),
    Case("UNEXPLAINED", [no(*CLEAN)], [[no(*CLEAN, failure_reason="wrong cell")]], [ok(*CLEAN)]),
]


def wants(*actions: tuple[str, int]) -> Row:
    """The actions a task lists."""
    return {"expected_actions": [{"name": n, "kwargs": {"id": i, "x": None}} for n, i in actions]}


def did(tool: str, number: int, answer: str = "ok") -> Step:
    return (tool, {"id": number}, answer)


BOOK, BOTH, TWICE = wants(("book", 1)), wants(("book", 1), ("cancel", 2)), wants(*[("book", 1)] * 2)
READ: Step = ("get_user", {"id": 7}, "Uma")

# Tasks list what solves them: reading counts for nothing.
ACTS = [
    Case("NO_ACTION", [no("Done.", **BOTH)], [], [ok("Done.", **BOTH)]),
    Case(
        "GAVE_UP",
        [no(READ, "Please call again.", **BOOK)],
        [[no("Please call again.", **BOOK)], [no(READ, did("book", 1), "Done.", **BOOK)]],
        [ok(READ, "Please call again.", **BOOK)],
    ),
    Case(
        "EXTRA_WRITE",
        [no(did("book", 1), did("cancel", 3), "Done.", **BOOK)],
        [
            [no(did("book", 1), READ, "Done.", **BOOK)],
            [no(did("book", 1), did("cancel", 3, FULL), READ, "Done.", **BOOK)],
        ],
        [ok(did("book", 1), did("cancel", 3), "Done.", **BOOK)],
    ),
    # Nothing is to be changed; and what is asked for once is done once.
    Case(
        "EXTRA_WRITE",
        [no(READ, did("book", 1), "Done.", **wants())],
        [[no(READ, "Nothing to do.", **wants())], [no(did("book", 1), "Done.")]],
        [ok(READ, "Nothing to do.", **wants())],
    ),
    Case(
        "EXTRA_WRITE",
        [no(did("book", 1), did("book", 1), "Done.", **BOOK)],
        [[no(did("book", 1), did("book", 1), "Done.", **TWICE)]],
        [ok(did("book", 1), "Done.", **BOOK)],
    ),
    Case(
        "SAME_WRONG_ARGUMENTS",
        [no(did("book", 5), "A.", **BOOK), no(did("book", 5), "B.", **BOOK)],
        [
            [no(did("book", 5), "A.", **BOOK), no(did("book", 6), "B.", **BOOK)],
            [ok(did("book", 1), **BOOK), *[no(did("book", 5), "A.", **BOOK)] * 2],
            [no(did("book", 5), "A.", **BOOK)],
        ],
        [ok(did("book", 5), "A.", **BOOK)],
    ),
    Case(
        "WRONG_ARGUMENTS",
        [ok(did("book", 1), "A.", **BOOK), no(did("book", 4), "B.", **BOOK)],
        [[no(("book", {"x": None, "id": 1}, "ok"), "B.", **BOOK)]],
        [ok(did("book", 4), "B.", **BOOK)],
    ),
    Case(
        "MISSING_ACTION",
        [no(did("book", 1), "Done.", **BOTH)],
        [[no(did("book", 1), did("cancel", 2), "Done.", **BOTH)]],
        [ok(did("book", 1), "Done.", **BOTH)],
    ),
    Case(
        "MISSING_ACTION",
        [no(did("book", 1), "Done.", **TWICE)],
        [[no(did("book", 1), did("book", 1), "Done.", **TWICE)]],
        [ok(did("book", 1), did("book", 1), "Done.", **TWICE)],
    ),
    # An error before the last change was got over; one after it was not.
    Case(
        "ERROR_IGNORED",
        [no(did("book", 1), did("cancel", 3, FULL), "Done.", **BOOK)],
        [[no(did("cancel", 3, FULL), did("book", 1), "Done.", **BOOK)]],
        [ok(did("book", 1), did("cancel", 3, FULL), "Done.", **BOOK)],
    ),
    Case(
        "THRASH",
        [no(READ, *[did("book", 1, FULL)] * 3, "I could not.", **BOOK)],
        # It kept looking until it found something: no failing call is at the end.
        [[no(*[("get_user", {"id": 7}, FULL)] * 3, READ, "I could not.", **BOOK)]],
        [ok(READ, *[did("book", 1, FULL)] * 3, "I could not.", **BOOK)],
    ),
]


def answers(said: str | None, right: str) -> Row:
    return {"extracted_answer": said, "expected_answer": right}


# No rollout calls a tool: what counts is the answer.
ANSWERS = [
    Case(
        "REFERENCE_CONTRADICTION",
        [no("42", **answers(" Forty  TWO.", "forty two"))],
        [[no("42", **answers("4 2", "42"))], [no("42", **answers(None, "42"))]],
        [ok("42", **answers("42", "42"))],
    ),
    Case(
        "CUT_OFF",
        [no("So", response=CUT), ok("So it is.")],
        [[no("So", response={"status": "completed"})]],
        [ok("So", response=CUT)],
    ),
    Case("EMPTY_OUTPUT", [no(""), no(" \n")], [[no("0")], [no(response=SPENT)]], [ok("")]),
    Case(
        "NOT_REACHED",
        [no(response=UNSPENT), no(response={"usage": {"input_tokens": 0, "output_tokens": 0}})],
        # Something came of it, or nobody says what it took.
        [[no(response=SPENT)], [no("0", response=UNSPENT)], [no()]],
        [ok(response=UNSPENT)],
    ),
    Case(
        "NOT_EXTRACTED",
        [no("It is 4.", extracted_answer=None), no("4?", extraction_successful=False)],
        [
            [no("It is 4.", metadata={"parsed_date": None})],
            [no("4?", extraction_successful=True)],
        ],
        [ok("It is 4.", extracted_answer=None)],
    ),
    Case(
        "UNSTABLE_ANSWER",
        [ok("1", extracted_answer="1"), no("2", extracted_answer="2")],
        [[no("2", extracted_answer="2")], [ok("1"), no("2")]],
        [ok("1", extracted_answer="1"), ok("2", extracted_answer="2")],
    ),
    Case(
        "WRONG_ANSWER",
        [no("2", extracted_answer="2")],
        [[no("2")]],
        [ok("2", extracted_answer="2")],
    ),
    Case("UNEXPLAINED", [no("Perhaps.")], [[no("2", extracted_answer="2")]], [ok("Perhaps.")]),
]

BENCHMARKS = {"tools": TOOLS, "acts": ACTS, "answers": ANSWERS}
PLAIN = {
    "tools": ok(LOOKED, WROTE, "Fine."),
    "acts": ok(did("book", 1), did("cancel", 2), "Fine.", **BOTH),
    "answers": ok("Fine."),
}


def padded(name: str, rows: list[Row], plain: Row) -> list[Row]:
    """The rows, and passes of other tasks, enough to tell that no pass bears a sign."""
    more = [rollout(900 + task, 0, **{**plain, "ask": f"{name} {task}"}) for task in range(12)]
    return rows + more


def rows(benchmark: str, *roles: str) -> tuple[list[Row], dict[str, tuple[str, str]]]:
    """The rows of a run, a task for every list of attempts; and what each task is there for."""
    found: list[Row] = []
    tasks: dict[str, tuple[str, str]] = {}
    for case in BENCHMARKS[benchmark]:
        given = {"shows": [case.shows], "near": case.near, "passes": [case.passes]}
        for role in roles:
            for attempts in given[role]:
                task = len(tasks)
                tasks[str(task)] = (case.mode, role)
                for index, attempt in enumerate(attempts):
                    asked = f"{attempt.get('ask', 'Please.')} {benchmark} {roles} {task}"
                    found.append(rollout(task, index, **{**attempt, "ask": asked}))
    return padded(f"{benchmark} {roles}", found, PLAIN[benchmark]), tasks
