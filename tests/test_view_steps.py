"""Transcripts in blade view: pictures and sounds of messages, agents, and what turns cost."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pipeline
from pipeline.ingest.formats import inspect_sample
from pipeline.view import agents
from tests.lean import without_pages
from tests.results import analyzed, rollout
from tests.test_formats_inspect import archive, log, sample
from tests.viewed import Answer, Reader, viewed


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


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A message for each kind of content, as Gym's rows and as a log of Inspect."""
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
    files = {
        "gym_rollouts.jsonl": rows,
        "agents_rollouts.jsonl": [
            rollout(0, 0, reward=0.0, output=observed, ng_trajectory=TRAJECTORY)
        ],
        "log.eval": archive(logged),
    }
    with without_pages():
        return analyzed(tmp_path_factory.mktemp("steps"), files).path


@pytest.fixture(scope="module")
def reader(warehouse: Path) -> Iterator[Reader]:
    """The explorer of it."""
    with viewed(warehouse) as actual:
        yield actual


def event(page: Answer, name: str) -> str:
    """One event of a transcript, or the question."""
    match = re.search(rf'<details class="event[^>]* id="{name}".*?</details>', page.text, re.DOTALL)
    assert match is not None
    return match[0]


@pytest.mark.parametrize(
    ("kind", "tag", "address", "words"),
    [
        ("input_image", "img", PNG, "image (png, 3 kB)"),
        ("image_url", "img", JPEG, "image (jpeg, 3 kB)"),
        ("input_audio", "audio", WAV, "audio (wav, 3 kB)"),
    ],
)
def test_media_of_messages_are_shown(
    reader: Reader, warehouse: Path, kind: str, tag: str, address: str, words: str
) -> None:
    """In the question and in a message, once each; the text of the event only names them."""
    task = list(CONTENT).index(kind)
    page = reader.get("/rollout", at=f"gym/{task}:0")
    for name in ("question", "e1"):
        assert event(page, name).count(f'src="{address}"') == 1
        assert f"<{tag} " in event(page, name) and words in event(page, name)
    assert f'src="{address}"' in reader.get("/event", at=f"gym/{task}:0#1").text
    with pipeline.open_warehouse(warehouse) as opened:
        query = f"select text from events where run_id = 'gym' and task_id = '{task}' and seq = 1"
        ((text,),) = opened.execute(query).fetchall()
    assert text.endswith(f"[{kind}]") and len(text) < 30


@pytest.mark.parametrize("kind", ["large", "svg", "elsewhere"])
def test_other_media_are_named(reader: Reader, kind: str) -> None:
    """What is too large, may hold a script or lies elsewhere is neither shown nor loaded."""
    page = reader.get("/rollout", at=f"gym/{list(CONTENT).index(kind)}:0")
    assert "<img" not in page.text and "[input_image]" in event(page, "e1")


def test_images_of_inspect_are_shown(reader: Reader, warehouse: Path) -> None:
    """Of messages and of tools, also where they are attached; texts only name them."""
    with pipeline.open_warehouse(warehouse) as opened:
        query = (
            "select run_id || '/' || rollout_id from rollouts where run_id not in ('gym', 'agents')"
        )
        ((at,),) = opened.execute(query).fetchall()
    page = reader.get("/rollout", at=at)
    assert re.findall(r'<img src="([^"]*)"', page.text) == [PNG, GIF, WEBP]
    assert "[image]so" in page.words
    with pipeline.open_warehouse(warehouse) as opened:
        query = "select max(length(text)) from events where kind = 'tool_result'"
        assert opened.execute(query).fetchall() == [(len('[{"type": "image"}]'),)]


def test_screenshots_of_tools_are_kept_up_to_a_size() -> None:
    """Of many large results the first have their images, the others only name them."""
    large = f"data:image/png;base64,{'A' * 1_000_000}"
    shot = {"role": "tool", "content": [{"type": "image", "image": large}], "tool_call_id": "1"}
    messages = [{"role": "user", "content": "look", "source": "input"}, *[shot] * 5]
    done = {"role": "assistant", "content": "done"}
    output = inspect_sample._output(
        {"messages": [*messages, done]}, {}, inspect_sample.Log("task", None, {}, ())
    )
    results = [item for item in output if item["type"] == "function_call_output"]
    assert ["content" in item for item in results] == [True, True, False, False, False]
    assert {item["output"] for item in results} == {'[{"type": "image"}]'}


def test_agents_are_nested_and_turns_have_costs(reader: Reader) -> None:
    """An agent is below the one that started it; tokens and seconds are at their turns."""
    page = reader.get("/rollout", at="agents/0:0")
    (tree,) = re.findall(r'<ul class="agents">.*?</ul>(?=</details>)', page.text, re.DOTALL)
    bare = re.sub(r"<(?!/?(?:ul|li))[^>]*>| class=\"agents\"|\n", "", tree)
    assert re.sub(r" ?(<[^>]*>) ?", r"\1", bare) == (
        "<ul><li>root 2 turns 2,600 tokens in, 27 out, 9 s"
        "<ul><li>searcher 1 turn 3 out<ul><li>below</li></ul></li></ul></li></ul>"
    )
    assert "turn 1 · 1,100 tokens in, 20 out" in event(page, "e1")
    assert "turn 2 · 1,500 tokens in, 7 out, 2.5 s" in event(page, "e3")


def test_agents_of_any_shape_are_read() -> None:
    """Circles and strange values end nothing; what is not recorded is not 0."""
    strange = [
        *("", "[]", "1", '{"invocations": 1}', '{"turns": [1], "model_calls": [[]]}'),
        json.dumps({"invocations": [{"invocation_id": "a", "parent_invocation_id": "a"}]}),
    ]
    assert [len(agents.agents(each)) for each in strange] == [0, 0, 0, 0, 0, 1]
    circle = [{"invocation_id": a, "parent_invocation_id": b} for a, b in ("ab", "bc", "ca")]
    rows = agents.agents(json.dumps({"invocations": circle}))
    assert len(rows) == 3 and rows[0]["input_tokens"] is None
    assert agents.costs_by_turn(rows, 2) == {}
