"""Seeded rollouts whose calls and results are at odds: no ids, ids used twice, no JSON."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.case_files import cases

LONG = {"<deep>": "[" * 60 + "]" * 60} | {f"<{n}>": "x" * n for n in (300, 2000, 3000)}


def _table(name: str) -> tuple[Any, ...]:
    """The values of a table, with what is long at its length."""
    found = []
    for value in cases("odd_rows", name):
        for mark, text in LONG.items():
            value = value.replace(mark, text) if isinstance(value, str) else value
        found.append(value)
    return tuple(found)


IDS, TOOLS, ARGUMENTS, OUTPUTS, TEXTS = map(
    _table, ("ids", "tools", "arguments", "outputs", "texts")
)


def items(rng: Random) -> list[Any]:
    """A response's output of up to a dozen items in any order."""
    found = [_item(rng) for _ in range(rng.randint(0, 12))]
    if found and rng.random() < 0.1:
        return [found[:2], *found[2:]]
    return found


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
