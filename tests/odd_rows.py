"""Seeded rollouts whose calls and results are at odds: no ids, ids used twice, no JSON."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from tests.results import Row, rollout

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
ENDS: tuple[Row, ...] = (
    {},
    {},
    {"status": "completed"},
    {"status": "incomplete"},
    {"incomplete_details": {"reason": "max_output_tokens"}},
    {"incomplete_details": "none"},
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


def rows(seed: int, count: int) -> list[Row]:
    """Rollouts of as many tasks; every third repeats its last call."""
    rng = Random(seed)
    found = []
    for number in range(count):
        output = items(rng)
        if output and number % 3 == 0:
            output += output[-2:] * rng.randint(1, 3)
        code = rng.choice(({}, {"exit_code": 1}, {"exit_code": "1"}, {"return_code": -9.0}))
        row = rollout(number, 0, reward=rng.choice((0.0, 1.0)), output=output, **code)
        row["response"] |= rng.choice(ENDS)
        found.append(row)
    return found


CHANGES = ("book", "cancel")


def acting_rows(seed: int, n_tasks: int) -> list[Row]:
    """Rollouts of tasks that list actions: none, the same one twice, some with null values."""
    rng = Random(seed)
    found = []
    for task in range(n_tasks):
        listed = [
            {
                "name": rng.choice(CHANGES),
                "kwargs": {
                    "id": rng.randint(1, 2),
                    "note": None,
                    "seats": [{"row": 1, "side": "a"}],
                },
            }
            for _ in range(rng.randint(0, 3))
        ]
        for index in range(3):
            # The first attempt does what is asked, the others what they like.
            wanted = [(action["name"], action["kwargs"]) for action in listed]
            made = wanted if index == 0 else _at_will(rng)
            output = []
            for number, (tool, arguments) in enumerate(made):
                answer = "done" if index == 0 else rng.choice(("done", "done", "Error: no"))
                output += _answered(tool, arguments, f"call {number}", answer)
            row = rollout(task, index, reward=float(index == 0), output=output)
            found.append({**row, "expected_actions": listed})
    return found


def _at_will(rng: Random) -> list[tuple[str, Row]]:
    made = []
    for _ in range(rng.randint(0, 5)):
        arguments: Row = {"seats": [{"side": "a", "row": 1}], "id": rng.randint(1, 2)}
        if rng.random() < 0.3:
            arguments = {"note": None, **arguments}
        made.append((rng.choice((*CHANGES, "get_user")), arguments))
    return made


def _answered(tool: str, arguments: Row, call_id: str, answer: str) -> list[Row]:
    return [
        {
            "type": "function_call",
            "name": tool,
            "arguments": json.dumps(arguments),
            "call_id": call_id,
        },
        {"type": "function_call_output", "call_id": call_id, "output": answer},
    ]
