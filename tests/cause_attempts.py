"""Attempts at tasks, as tests of root causes put them together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.results import Row, called
from tests.results import said as says

Item = dict[str, Any]


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
CUT_LINE = Attempt({}, "cut")


def fails(*items: Item | list[Item], **fields: Any) -> Attempt:
    """An attempt with the reward 0; `response` is more of its response, `limit` its token limit."""
    output = [item for each in items for item in (each if isinstance(each, list) else [each])]
    return Attempt({"reward": 0.0, "output": output, **fields})


def passes(*items: Item | list[Item], **fields: Any) -> Attempt:
    """An attempt with the reward 1."""
    return fails(*items, **{"reward": 1.0, **fields})


def truncated(*items: Item | list[Item], limit: int = 1000, **fields: Any) -> Attempt:
    """An attempt that ends at its token limit."""
    ended = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    return fails(*items, response=ended, limit=limit, **fields)


def failed(kind: str, **fields: Any) -> Attempt:
    """An attempt of which only the failures file tells."""
    return Attempt(fields, kind)


def thinks(text: str) -> Item:
    """What it says to itself."""
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}


def calls(
    tool: str, result: str | None = "ok", *, raw: str | None = None, **given: Any
) -> list[Item]:
    """A call with its result; `raw` stands in place of arguments that are JSON."""
    return called(tool, given if raw is None else raw, result)


DONE, LOOKED, SENT = says("All done."), calls("look", name="Ada"), calls("send", to="x")
FAILING = calls("send", "Error: no route", to="x")
FINE = passes(LOOKED, SENT, DONE)
# It did what a pass does, and no rule has anything to say of it.
WRONG = fails(LOOKED, SENT, says("Sent it."))
THRASH = [FAILING, FAILING, FAILING, says("I could not send it.")]
UNKNOWN = [calls("fly", "Error: unknown tool fly"), says("I could not fly.")]
SANDBOX = {"sandbox_error": "the container died"}
BROKEN_JUDGE = {"verifier_error": "the judge gave no JSON"}
WRONG_CURRENCY = {"currency": "wrong"}


def answered(answer: str, *, ok: bool = False, to: str = "42", **fields: Any) -> Attempt:
    """An attempt whose answer the verifier took from the output."""
    made = passes if ok else fails
    return made(says(f"It is {answer}."), extracted_answer=answer, expected_answer=to, **fields)


def assigns(*tos: str, ok: bool = False) -> Attempt:
    """An attempt at a task that expects one change, for Ada."""
    made = passes if ok else fails
    expected = [{"name": "assign", "arguments": {"to": "ada"}}]
    items = [calls("assign", to=to) for to in tos]
    return made(calls("find_owner"), *items, DONE, expected_actions=expected)


def searches(*, ok: bool = False, ids: str = "1", **given: str) -> Attempt:
    """An attempt that looks for records and closes those it means."""
    made = passes if ok else fails
    return made(calls("search", "3 records", **given), calls("close", ids=ids), DONE)


def spends(tokens: int, *items: Any, ok: bool = True, limit: int = 1000) -> Attempt:
    """An attempt that takes so many tokens of its limit."""
    made = passes if ok else fails
    usage = {"usage": {"input_tokens": 10, "output_tokens": tokens}}
    return made(*items, response=usage, limit=limit)
