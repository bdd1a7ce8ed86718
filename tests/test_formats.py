"""The pure readers: irregular rows, reported figures, settings in configs."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from pipeline.ingest.formats import config, document, fields, get, items, message, metrics
from pipeline.ingest.formats.chat import chat
from pipeline.ingest.formats.inspect_sample import turn_items


def test_aggregate_figures() -> None:
    """Figures come with their agent and task; key metrics are not repeated, samples never."""
    document = [
        {
            "agent_ref": {"name": "a"},
            "agent_metrics": {"mean/reward": 0.5, "nested": {"x": 1}, "text": "no", "flag": True},
            "key_metrics": {"mean/reward": 0.5, "only/here": 2},
            "group_level_metrics": [
                {"_ng_task_index": 3, "mean/reward": 1.0, "sample": {"huge": 1, "agent_ref": {}}},
                {"mean/reward": float("nan"), "sample": {"_ng_task_index": 4}},
            ],
        }
    ]
    figures = list(metrics.aggregate_figures(metrics.parse(json.dumps(document))))
    reported = [(f.agent, f.task, f.metric, f.value) for f in figures]
    assert reported == [
        ("a", None, "mean/reward", 0.5),
        ("a", None, "nested/x", 1.0),
        ("a", None, "only/here", 2.0),
        ("a", "3", "mean/reward", 1.0),
        ("a", "4", "mean/reward", None),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "policy_model_name: org/some-model\ntemperature: 0.6  # warm\nnum_repeats: 8\n",
        'policy_model_name = "org/some-model"\ntemperature = 0.6\nnum_repeats = 8\n',
        '{"policy_model_name": "org/some-model", "temperature": 0.6, "num_repeats": 8}',
        "a:\n  - policy_model_name: 'org/some-model'\n    temperature: 0.6\nnum_repeats: 8",
    ],
)
def test_settings_stand_plainly(text: str) -> None:
    """YAML, TOML and JSON say the same settings, nested or not."""
    assert config.settings(text) == {
        "num_repeats": "8",
        "policy_model_name": "org/some-model",
        "temperature": "0.6",
    }


def test_settings_that_are_not_plain() -> None:
    """Two values for one name, references, empties, keys and endpoints are left alone."""
    text = (
        "model: a\nmodel: b\ntemperature: ${t}\ntop_p: null\nmax_turns:\n"
        "api_key: secret\nbase_url: hidden\n"
    )
    assert config.settings(text) == {}


@pytest.mark.parametrize("words", ["step = 1 if low else -1", '"temperature": 2', "model: x"])
def test_strings_of_a_document_hold_no_settings(words: str) -> None:
    """Code and prose in JSON, of a model or a stranger, say nothing of the run."""
    assert config.settings(json.dumps({"code": words, "listed": [words]})) == {}
    assert config.settings(json.dumps([words])) == {}
    known = {"code": words, "max_turns": 3, "nested": [{"top_p": 0.5}]}
    assert config.settings(json.dumps(known)) == {"max_turns": "3", "top_p": "0.5"}
    # The limit of a page of rows says how many rows a page has.
    page = {"limit": 25, "page": 1, "samples": [{"temperature": 0.5}]}
    assert config.settings(json.dumps(page)) == {}
    assert config.settings(json.dumps({**page, "samples": []})) == {"limit": "25"}


def test_json_with_comments_and_json_that_is_cut() -> None:
    """The first is read but for its strings; the second is no document, and says nothing."""
    text = '{"temperature": 0.5, // warm\n "code": "step = 1, \\"top_p\\": 2"}'
    assert config.settings(text) == {"temperature": "0.5"}
    for cut in ('{"temperature": 0.5, "code": "step = 1', '{"temperature": 0.5, "x":'):
        with pytest.raises(ValueError, match="ends before it is whole"):
            config.settings(cut)


def test_checkpoint_reference() -> None:
    """A checkpoint file without settings is its first line."""
    assert config.checkpoint("\n  step_500\nmore\n") == {"checkpoint": "step_500"}
    assert config.checkpoint("checkpoint_path: x/y\n") == {"checkpoint_path": "x/y"}
    assert config.checkpoint('{\n  "loss": 0.5\n}') == config.checkpoint('[{"loss": 1}]') == {}


def test_a_resolved_config_gives_settings_and_no_secret() -> None:
    """YAML of any style is read; only known names are kept, and an alias is looked at once."""
    text = """
base: &base {temperature: 0.6, "top_p": '0.95', api_key: sk-secret-1}
policy_model_name: >-
  org/model
agents:
  - <<: *base
    max_output_tokens: 4096
    model: {name: x, token: hf_secret}
judge: {model: org/judge, base_url: "https://u:p@host"}
num_repeats: ${oc.env:REPEATS}
"""
    assert config.resolved(text) == {
        "max_output_tokens": "4096",
        "model": "org/judge",
        "policy_model_name": "org/model",
        "temperature": "0.6",
        "top_p": "0.95",
    }
    nested = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 60))
    assert config.resolved(f"a0: &a0 {{top_k: 5}}\n{nested}") == {"top_k": "5"}
    with pytest.raises(ValueError, match="not YAML"):
        config.resolved("a: [1")
    assert config.resolved("") == {}


def test_json_in_a_string_where_an_object_or_a_list_is_declared() -> None:
    """It is read as what it is; other text, and JSON that may be an answer, stays text."""
    row = {"timing": '{"total": 2.5}', "calls": '[{"id": "c"}]', "answer": '["a", "b"]'}
    assert fields(row["timing"]) == {"total": 2.5}
    assert get(row, "timing", "total") == 2.5
    assert items(row["calls"]) == [{"id": "c"}]
    assert items(row["answer"]) == []
    assert get('{"text": "x"}', "text") is None
    for other in ("", "{cut", "{} and more", "[1", "[" * 100_000, '"{}"'):
        assert fields(other) == {}
        assert items(other) == []


@pytest.mark.parametrize("content", ["", None, []])
def test_empty_messages_of_the_model(content: object) -> None:
    """Without words and calls it is an empty answer; with a call it is the call."""
    empty = {"role": "assistant", "content": content}
    calling = {**empty, "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}
    for convert in (chat, lambda turns: [item for one in turns for item in turn_items(one, {})]):
        assert list(convert([empty])) == [message("")]
        assert [item["type"] for item in convert([calling])] == ["function_call"]
        assert list(convert([{"role": "user", "content": content}])) == []


def test_a_document_that_is_no_json_is_refused_at_once(tmp_path: Path) -> None:
    """A string that never ends is read once; behind a comma that is too much there is nothing."""
    path = tmp_path / "a.json"
    path.write_bytes(b'"\\' * 200_000)
    begun = time.process_time()
    with pytest.raises(ValueError):
        document(path)
    assert time.process_time() - begun < 5
    path.write_text('{"a": [1, 2, ], "b,]": "x\\",}",}', encoding="utf-8")
    assert document(path) == {"a": [1, 2], "b,]": 'x",}'}
