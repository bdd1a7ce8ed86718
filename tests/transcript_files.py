"""Transcripts of every kind, for tests of the pages that show them."""

from __future__ import annotations

import base64
import json
from typing import Any

from tests.results import Content, rollout


def tool_call(tool: str, number: int) -> list[dict[str, str]]:
    """A call and its result, under an id that others have too."""
    arguments = json.dumps({"n": number})
    return [
        {"type": "function_call", "name": tool, "call_id": "same", "arguments": arguments},
        {"type": "function_call_output", "call_id": "same", "output": f"result of {tool}"},
    ]


PICTURE = f"data:image/png;base64,{base64.b64encode(bytes(300)).decode()}"
SEEN = [
    {"type": "message", "role": "assistant", "content": "**Bold** and `code`, <b>no tag</b>"},
    {"type": "message", "role": "user", "content": "a    b\nc    d\ne    f"},
    *tool_call("look", 1)[:1],
    {
        "type": "function_call_output",
        "call_id": "same",
        "output": json.dumps([{"type": "input_image", "image_url": PICTURE}]),
    },
    {"type": "message", "role": "assistant", "content": f"It is ![i]({PICTURE})"},
]


def plain_files() -> dict[str, Content]:
    """120 tasks, one long transcript, some checks and a label."""
    tests = [{"name": "test_a", "passed": True}, {"name": "test_b", "passed": False}]
    items = [
        {"type": "message", "role": "assistant", "content": f"word{number} " + "x" * 4000}
        for number in range(1, 451)
    ]
    rows = [rollout(task, 0, reward=float(task % 2), ask=f"many {task}") for task in range(120)]
    return {
        "many_rollouts.jsonl": rows,
        "long_rollouts.jsonl": [rollout(0, 0, ask="long", reward=0.0, output=items)],
        "checked_rollouts.jsonl": [
            rollout(0, 0, ask="checked", reward=0.0, tests=tests),
            rollout(0, 1, ask="checked"),
        ],
        "odd_rollouts.jsonl": [
            rollout(0, 0, ask="odd", reward=0.0, output=[*tool_call("a", 1), *tool_call("b", 2)]),
            rollout(
                0, 1, ask="odd", output=[*tool_call("z", 0), *tool_call("a", 1), *tool_call("b", 3)]
            ),
        ],
        "seen_rollouts.jsonl": [rollout(0, 0, ask="seen", reward=0.0, output=SEEN)],
        "labels.jsonl": [
            {"run": "many", "task": 4, "cause": "KG", "note": "n", "by": "b"},
            {"run": "many", "task": 4, "rollout": 0, "mode": "slow", "by": "c"},
        ],
    }


def data(kind: str, size: int = 300) -> str:
    """An address that holds its content, of letters that no other kind has."""
    return f"data:{kind};base64,{base64.b64encode(kind.encode() * size).decode()}"


PNG, JPEG, GIF, WEBP = (data(f"image/{kind}") for kind in ("png", "jpeg", "gif", "webp"))
WAV = data("audio/wav")
LARGE = data("image/png", 300_000)
CONTENT: dict[str, Any] = {
    "input_image": [
        {"type": "input_text", "text": "see "},
        {"type": "input_image", "image_url": PNG},
    ],
    "image_url": [
        {"type": "text", "text": "see "},
        {"type": "image_url", "image_url": {"url": JPEG}},
    ],
    "input_audio": [
        {"type": "input_audio", "input_audio": {"data": WAV.partition(",")[2], "format": "wav"}}
    ],
    "large": [{"type": "input_image", "image_url": LARGE}],
    "svg": [{"type": "input_image", "image_url": data("image/svg+xml")}],
    "elsewhere": [{"type": "input_image", "image_url": "https://x.example/i.png"}],
}
TRAJECTORY = {
    "invocations": [
        {"invocation_id": "root", "duration_ms": 9000},
        {"invocation_id": "sub", "parent_invocation_id": "root", "agent_name": "searcher"},
        {"invocation_id": "below", "parent_invocation_id": "sub"},
    ],
    "turns": [
        {"invocation_id": "root", "turn_no": 1, "model_calls": [{"model_call_id": "a"}]},
        {"invocation_id": "sub", "turn_no": 1, "model_calls": [{"model_call_id": "c"}]},
        {"invocation_id": "root", "turn_no": 2, "model_calls": [{"model_call_id": "b"}]},
    ],
    "model_calls": [
        {"model_call_id": "a", "token_stats": {"prompt_tokens": 1100, "completion_tokens": 20}},
        {
            "model_call_id": "b",
            "token_stats": {"prompt_tokens": 1500, "completion_tokens": 7},
            "latency_ms": 2500,
        },
        {"model_call_id": "c", "token_stats": {"completion_tokens": 3}},
    ],
}


def media_files() -> dict[str, Content]:
    """A message for each kind of content, as Gym's rows and as a log of Inspect."""
    # Test modules are not imported while they are collected.
    from tests.test_formats_inspect import archive, log, sample

    rows = []
    for number, content in enumerate(CONTENT.values()):
        items = [
            {"type": "message", "role": "user", "content": content},
            {"type": "message", "role": "assistant", "content": "seen"},
        ]
        row = rollout(number, 0, ask=f"{number}", reward=0.0, output=items)
        asked = [
            {"role": "user", "content": [{"type": "input_text", "text": f"{number}"}, *content]}
        ]
        rows.append({**row, "responses_create_params": {"input": asked}})
    observed = [
        {"type": "function_call", "name": "ask", "call_id": "1", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "ok"},
        {"type": "message", "role": "assistant", "content": "done"},
    ]
    messages = [
        {"role": "user", "content": "look", "source": "input"},
        {"role": "assistant", "content": [{"type": "image", "image": "attachment://one"}]},
        {"role": "tool", "content": [{"type": "image", "image": GIF}], "tool_call_id": "1"},
        {
            "role": "user",
            "content": [{"type": "image", "image": WEBP}, {"type": "text", "text": "so"}],
        },
        {"role": "assistant", "content": "done"},
    ]
    logged = log(sample("a", 1, "C", messages=messages, attachments={"one": PNG}))
    return {
        "gym_rollouts.jsonl": rows,
        "agents_rollouts.jsonl": [
            rollout(0, 0, reward=0.0, output=observed, ng_trajectory=TRAJECTORY)
        ],
        "log.eval": archive(logged),
    }


def files() -> dict[str, Content]:
    """All of them."""
    return {**plain_files(), **media_files()}
