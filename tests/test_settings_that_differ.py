"""Every setting in the record that differs between two compared runs is listed."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.case_files import cases
from tests.results import Row, analyzed, rollout
from tests.test_formats_tau2 import SIMULATIONS, TASKS
from tests.together import Batch, together, with_pages

NEEDED = ("comparison_settings", "comparisons", "runs")
DIFFERING = """
    select setting, base_value, candidate_value, n_tasks from comparison_settings
    where setting not in ('fields of the rows') order by setting
"""


def rows(**request: Any) -> list[Row]:
    """Three tasks, each asked with the same parameters."""
    every = [rollout(task, 0, model="gpt") for task in range(3)]
    for row in every:
        row["responses_create_params"] |= request
    return every


def prefilled(row: Row, words: str) -> Row:
    """The row, with a message of the model's own in its request."""
    row["responses_create_params"]["input"].append({"role": "assistant", "content": words})
    return row


@together
def test_prefilled_messages() -> Batch:
    """Words put into the model's mouth differ by task; equal ones and none are no difference."""
    base, other = rows(), rows()
    prefilled(other[0], "Sure, ")
    prefilled(base[1], "Well, ")
    prefilled(other[1], "Well, ")
    results = yield {"a": base, "b": other}
    assert results.rows(DIFFERING) == [("prefilled messages", None, None, 1)]


@pytest.mark.slow
def test_settings_beside_a_run(tmp_path: Path) -> None:
    """Limits of a run's configuration are compared, and what its rows say of sampling."""
    configs = [{"policy_model_name": "gpt", "max_turns": turns} for turns in (10, 20)]
    files = {
        "a/desk_a_rollouts.jsonl": rows(temperature=0.5),
        "a/run_config.json": [configs[0]],
        "b/desk_b_rollouts.jsonl": rows(temperature=1.0),
        "b/run_config.json": [configs[1]],
    }
    results = analyzed(tmp_path, files, needs=NEEDED)
    assert results.rows(DIFFERING) == [
        ("max_turns", "10", "20", None),
        ("temperature", "0.5", "1", None),
    ]


@with_pages
def test_what_runs_differ_in_is_in_the_summary() -> Batch:
    """Of three runs or more: how many have each value, and how many instructions tasks have."""
    runs = {"a": rows(temperature=0.5), "b": rows(temperature=0.5), "c": rows(temperature=1.0)}
    for words, instructed in (("Be brief.", runs["b"]), ("Be kind.", runs["c"][:2])):
        for row in instructed:
            row["responses_create_params"]["input"].insert(0, {"role": "system", "content": words})
    results = yield runs
    line = "differ in `system prompt` (2 texts at 2 tasks), `temperature` (`0.5 (2)`, `1.0 (1)`)"
    (listed,) = [each for each in results.report.splitlines() if "These runs" in each]
    assert listed == f"These runs {line}: counts over all runs pool these."


@with_pages
def test_a_card_says_whose_instructions_differ() -> Batch:
    """Of runs that pass what another fails: none is asked the same, or some are."""
    runs = {
        name: [rollout(task, 0, ask=f"card {task}", reward=float(name != "a")) for task in (0, 1)]
        for name in "abc"
    }
    prompts = dict(zip(product("abc", (0, 1)), ("A.", "A.", "B.", "A.", "C.", "C."), strict=True))
    for (name, task), words in prompts.items():
        prompt = {"role": "system", "content": words}
        runs[name][task]["responses_create_params"]["input"].insert(0, prompt)
    text = (yield runs).report
    assert "2 other runs with another prompt pass it." in text
    assert "2 other runs pass it, 1 with another prompt." in text


@with_pages
def test_what_one_run_alone_records_is_no_difference() -> Batch:
    """It is named apart, with the run that does not record it; a field of few rows is none."""
    base, other = rows(), rows(temperature=0.5, top_p=0.9)
    other[0]["verifier_remark"] = "slow"
    results = yield {"a": base, "b": other}
    silent = f"{results.name}_a"
    assert results.rows("select setting, unrecorded_by from comparison_settings order by all") == [
        ("temperature", silent),
        ("top_p", silent),
    ]
    assert "No setting that was read for both differs." in results.report
    assert f"Not read for `{results.alias('a')}`: `temperature`, `top_p`." in results.report


@together
def test_what_is_no_sign_is_recorded_all_the_same() -> Batch:
    """A field of long texts, of an empty one or of many values is in the rows of the other run."""
    stories = {"a": "A game show.", "b": f"A ward. {'Think of each patient. ' * 9}", "c": "A quiz."}
    runs = {
        name: [
            rollout(task, 0, model="gpt", ask=f"show {task}")
            | {"story": story, "coin": "" if name == "b" else name, "door": name}
            for task in range(24)
        ]
        for name, story in stories.items()
    }
    for task, row in enumerate(runs["b"]):
        row["door"] = f"door {task % 3}"
    results = yield runs
    query = """
        select setting, base_value, candidate_value, unrecorded_by from comparison_settings
        where base like '%a' and candidate like '%b' and setting in ('story', 'coin', 'door')
        order by all
    """
    long = f"{stories['b'][:60]}... ({len(stories['b'])} characters)"
    assert results.rows(query) == [
        ("coin", "a", "(empty)", None),
        ("story", "A game show.", long, None),
    ]


@together
def test_fields_of_the_verifier_are_compared_at_common_tasks() -> Batch:
    """What other tasks hold is no difference, nor what an attempt without a grade lacks."""
    base, other = rows(), rows()
    for row in [*base, *other]:
        row["checked"] = {"a": True}
    del base[0]["checked"], base[0]["reward"]
    other += [rollout(task, 0, model="gpt", listed=["x"]) for task in range(3, 9)]
    results = yield {"a": base, "b": other}
    assert not results.rows("from comparison_settings where setting = 'fields of the rows'")


@together
def test_fields_of_the_verifier_differ() -> Batch:
    base, other = rows(), rows()
    for row in [*base, *other]:
        row["checked"] = {"a": True}
    for row in other:
        row["listed"] = ["x"]
    results = yield {"a": base, "b": other}
    assert results.rows("""
        select base_value, candidate_value from comparison_settings
        where setting = 'fields of the rows'
    """) == [("no others", "listed")]


@together
def test_what_every_row_of_a_run_states_differs() -> Batch:
    """A field with one value in each of two runs; not one that varies in a run, nor the verdict."""
    runs = {
        name: [
            rollout(
                task,
                0,
                reward=float(task % 3 > 0),
                hardware=name,
                mood=name if task else "other",
                ok=bool(task % 3),
            )
            for task in range(20)
        ]
        for name in ("a", "b")
    }
    results = yield runs
    assert results.rows("""
        select setting, base_value, candidate_value from comparison_settings
        where setting in ('hardware', 'mood', 'ok')
    """) == [("hardware", "a", "b")]


@with_pages
def test_tasks_that_look_the_same_are_named() -> Batch:
    """Unlike questions under one id by where they differ, equal ones under other ids by example."""
    stem = "Choose exactly one option of those that are listed below this long question "
    base = [rollout(task, 0, ask=f"{stem}{task} (A, B, C)") for task in range(2)]
    other = [rollout(task, 0, ask=f"{stem}{task} (A, B)") for task in range(2)]
    for rows_of, name in ((base, "one"), (other, "two")):
        rows_of.append(rollout(7, 0, ask="the same"))
        rows_of[-1]["_ng_task_index"] = name
    results = yield {"a": base, "b": other}
    assert results.rows(DIFFERING) == [
        ("model", None, None, None),
        ("questions", "…ong question 0 (A, B, C)", "…ong question 0 (A, B)", 2),
        ("task ids", "one", "two", 1),
    ]
    ours, theirs = (f"`{results.alias(name)}`" for name in "ab")
    assert (
        f"2 tasks of {ours} and {theirs} are not compared: one id, unlike questions "
        "(`…ong question 0 (A, B, C)` and `…ong question 0 (A, B)`)."
    ) in results.report
    assert (
        f"1 task of {ours} and {theirs} is not compared: the same questions under other ids "
        "(`one` and `two`)."
    ) in results.report


def tool(name: Any, *, is_nested: bool = False) -> Row:
    """The definition of a tool in one of its two forms."""
    named = {"name": name, "parameters": {"type": "object", "properties": {}}}
    return {"type": "function", "function": named} if is_nested else {"type": "function", **named}


@with_pages
def test_tools() -> Batch:
    """Tools that the requests of one run alone define are named, over the tasks of both.

    A task that only one run has, another order and another form are no difference.
    """
    base = rows(tools=[tool("look"), tool("save"), tool("erase", is_nested=True)])
    other = rows(tools=[tool("save", is_nested=True), tool("look"), tool("ask")])
    alone = rollout(3, 0, model="gpt")
    alone["responses_create_params"]["tools"] = [tool("fly")]
    results = yield {"a": base, "b": [*other, alone]}
    assert results.rows(DIFFERING) == [("tools", "erase", "ask", None)]
    words = "What differs: tools (only the base has `erase`; only the candidate has `ask`)"
    assert words in results.report


@together.each((None,), ("look",), (["look"],), ([None],), ([{"name": 3}],), ({"name": "look"},))
def test_what_defines_no_tool(tools: Any) -> Batch:
    """Requests are read with anything where tools are defined."""
    found = yield {"a": rows(tools=tools), "b": rows()}
    assert found.one("select sum(n_rollouts) from runs") == 6
    assert found.rows(DIFFERING) == ([("tools", "3", None, None)] if tools == [{"name": 3}] else [])


@together
def test_a_run_name_is_no_model() -> Batch:
    """Where rows name no model, its value is unknown on that side and not the run's name."""
    nameless = [rollout(task, 0) for task in range(3)]
    results = yield {"a": rows(), "b": nameless}
    assert results.rows(DIFFERING) == [("model", "gpt", None, None)]


@pytest.mark.slow
def test_what_a_document_records_of_its_run(tmp_path: Path) -> None:
    """Every value of the run is compared by its full name, however deep; secrets are not kept."""
    info = cases("formats", "tau2_info")
    long = "Be kind to the customer. " * 20
    runs = {
        "a.json": {
            "git_commit": "c7b9f7c",
            "agent_info": {**info["agent_info"], "implementation": "llm_agent"},
            "user_info": {"llm_args": {"api_key": "one", "max_tokens": 100}, "guide": long + "a"},
        },
        "b.json": {
            "git_commit": "19b3259",
            "agent_info": {**info["agent_info"], "implementation": "context_agent"},
            "user_info": {"llm_args": {"api_key": "two", "max_tokens": 200}, "guide": long + "b"},
        },
    }
    files = {
        name: json.dumps({"info": {**info, **more}, "tasks": TASKS, "simulations": SIMULATIONS})
        for name, more in runs.items()
    }
    results = analyzed(tmp_path, files, needs=NEEDED)
    differing = {name: values for name, *values in results.rows(DIFFERING)}
    assert list(differing) == [
        "agent_info.implementation",
        "git_commit",
        "user_info.guide",
        "user_info.llm_args.max_tokens",
    ]
    assert differing["agent_info.implementation"] == ["llm_agent", "context_agent", None]
    assert differing["user_info.llm_args.max_tokens"] == ["100", "200", None]
    assert differing["user_info.guide"][0].startswith(f"{long[:60]}")
    assert "(501 characters, sha256 " in differing["user_info.guide"][1]


@pytest.mark.slow
def test_how_a_table_is_read_is_no_setting(tmp_path: Path) -> None:
    """That two tables have unlike columns is not in what their runs differ in."""
    files = {
        f"{name}.jsonl": [
            {"id": f"q{place}", "prompt": f"What is {place}?", "output": "7", name: place > 4}
            for place in range(12)
        ]
        for name in ("correct", "passed")
    }
    results = analyzed(tmp_path, files, needs=[*NEEDED, "run_metrics"])
    assert results.one("select count(*) from comparisons") > 0
    assert "read_as" not in [row[0] for row in results.rows(DIFFERING)]
