"""Seeded rollouts whose calls and results are at odds: no ids, ids used twice, no JSON."""

from __future__ import annotations

from random import Random
from typing import Any

IDS = (None, "", "a", "a", "b", "c", 7)
TOOLS = ("read_file", "write", "write", "search", "", None, "größe", "x" * 300, 5)
DEEP = "[" * 60 + "]" * 60
ARGUMENTS: tuple[Any, ...] = (
    '{"a":1}',
    '{ "a": 1 }',
    '{"a":1,}',
    '{"a":[1,2,]}',
    '{"a":",}"}',
    '{"a":"\\",]"}',
    '{"a":"😀 ß"}',
    '{"a":' + DEEP + "}",
    "",
    " \n",
    None,
    "null",
    "[]",
    "no json",
    '"text"',
    "5",
    '{"a":1} {"b":2}',
    [],
    [{"a": 1}],
    {},
    {"a": 1},
    {"a": {"b": [None, True, 1.5]}},
    5,
    True,
)
OUTPUTS: tuple[Any, ...] = (
    "ok",
    "",
    None,
    "Error: boom",
    "error",
    "no Error: here",
    "Traceback (most recent call last):\n  x\nKeyError: 'a'",
    "ValueError: bad",
    '{"error": "x"}',
    '{"error": null, "exit_code": 0}',
    '{"error": false}',
    '{"error": "none"}',
    '{"error": {}}',
    '{"error": [1]}',
    '{"exit_code": 2}',
    '{"exit_code": "2"}',
    '{"returncode": 0.0}',
    '{"status": "failed"}',
    '{"success": false}',
    '{"is_error": true}',
    '[{"error": "x"}]',
    '{"error": "x"',
    {"error": "as an object"},
    ["Error: in a list"],
    12,
    "Command failed with 1",
    "x" * 2000 + " Error: late",
)


TEXTS: tuple[Any, ...] = (
    "done",
    "",
    None,
    " \t",
    [{"type": "output_text", "text": "fertig ✓"}],
    "<tool_call>{}</tool_call>",
    "<tool_call>" + "x" * 3000,
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
