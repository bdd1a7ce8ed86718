"""Transcripts in blade view: pictures and sounds of messages, agents, and what turns cost."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.ingest.formats import inspect_sample
from pipeline.view import agents
from tests.results import rows_of
from tests.transcript_files import CONTENT, GIF, JPEG, PNG, WAV, WEBP
from tests.viewed import Reader, viewed

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def reader(transcripts: Path) -> Iterator[Reader]:
    """The explorer of it."""
    with viewed(transcripts) as actual:
        yield actual


@pytest.mark.parametrize(
    ("kind", "tag", "address", "words"),
    [
        ("input_image", "img", PNG, "image (png, 3 kB)"),
        ("image_url", "img", JPEG, "image (jpeg, 3 kB)"),
        ("input_audio", "audio", WAV, "audio (wav, 3 kB)"),
    ],
)
def test_media_of_messages_are_shown(
    reader: Reader, transcripts: Path, kind: str, tag: str, address: str, words: str
) -> None:
    """In the question and in a message, once each; the text of the event only names them."""
    task = list(CONTENT).index(kind)
    page = reader.get("/rollout", at=f"gym/{task}:0")
    for name in ("question", 1):
        assert page.event(name).count(f'src="{address}"') == 1
        assert f"<{tag} " in page.event(name) and words in page.event(name)
    assert f'src="{address}"' in reader.get("/event", at=f"gym/{task}:0#1").text
    query = f"select text from events where run_id = 'gym' and task_id = '{task}' and seq = 1"
    ((text,),) = rows_of(transcripts, query)
    assert text.endswith(f"[{kind}]") and len(text) < 30


@pytest.mark.parametrize("kind", ["large", "svg", "elsewhere"])
def test_other_media_are_named(reader: Reader, kind: str) -> None:
    """What is too large, may hold a script or lies elsewhere is neither shown nor loaded."""
    page = reader.get("/rollout", at=f"gym/{list(CONTENT).index(kind)}:0")
    assert "<img" not in page.text and "[input_image]" in page.event(1)


def test_images_of_inspect_are_shown(reader: Reader, transcripts: Path) -> None:
    """Of messages and of tools, also where they are attached; texts only name them."""
    query = "select run_id || '/' || rollout_id from rollouts where run_id = 'sums-m'"
    ((at,),) = rows_of(transcripts, query)
    page = reader.get("/rollout", at=at)
    assert re.findall(r'<img src="([^"]*)"', page.text) == [PNG, GIF, WEBP]
    assert "[image]so" in page.words
    query = "select max(length(text)) from events where kind = 'tool_result' and run_id = 'sums-m'"
    assert rows_of(transcripts, query) == [(len('[{"type": "image"}]'),)]


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
    assert "turn 1 · 1,100 tokens in, 20 out" in page.event(1)
    assert "turn 2 · 1,500 tokens in, 7 out, 2.5 s" in page.event(3)


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
