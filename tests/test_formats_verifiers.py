"""verifiers of both kinds: rewards by their threshold, calls in texts, trees of messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.artifact import Artifact, Kind
from pipeline.ingest import formats
from pipeline.ingest.formats import verifiers_v0
from tests.case_files import cases, filled
from tests.fact_files import facts_of
from tests.results import Row, analyzed, lines, write


def rollout(example: Any, reward: Any, start: float, **more: Any) -> Row:
    """A line of results.jsonl."""
    inputs = {"example": example, "reward": reward, "start": start}
    return {**filled("formats", "verifiers_rollout", **inputs), **more}


METADATA = cases("formats", "verifiers_metadata")


def files() -> dict[str, Any]:
    """Two examples twice, rewards on both sides of the threshold, an error, damaged lines."""
    calls = [
        json.dumps({"id": "c1", "name": "add", "arguments": '{"x": 1}'}),
        {"id": "c2", "function": {"name": "sub", "arguments": {"y": 2}}},
        "{no JSON",
    ]
    acted = [
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": "3"},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "3"}],
            "reasoning_content": "hm",
        },
    ]
    error = {"error": "ModelError", "error_chain_repr": "ModelError() -> Overloaded('529')"}
    rows = [
        rollout(0, 0.6, 20.0, completion=acted),
        rollout(0, 0.2, 10.0, is_truncated=True),
        rollout(1, 0.0, 5.0, error=error, completion=None, token_usage=None),
        rollout(1, 0.5, 6.0, completion="A", error="ToolError('gone')", prompt="Q1"),
        rollout(None, 1.0, 1.0),
    ]
    return {
        "sums--org--m/run7/results.jsonl": lines(rows) + "{cut\n",
        "sums--org--m/run7/metadata.json": [METADATA],
    }


test_old = facts_of(files(), "verifiers")


@pytest.mark.slow
def test_a_score_that_always_is_the_reward_is_the_reward(tmp_path: Path) -> None:
    """Though by the averages a counter is; where the reward is listed, another is beside it."""
    rows = [
        rollout(n, n / 2, 1.0, metrics={"judge": n / 2, "neat": 1.0, "num_turns": n})
        for n in range(3)
    ]
    for name, average in (("run7", 0.5), ("run8", 1.0)):
        averages = {"judge": 0.5000001, "num_turns": average}
        metadata = {**METADATA, "avg_reward": 0.5, "avg_metrics": averages}
        folder = f"{name}/sums--org--m/{name}"
        files = {f"{folder}/results.jsonl": rows, f"{folder}/metadata.json": [metadata]}
        results = analyzed(tmp_path / name, files, needs=["reward_components"])
        rewards = results.column("select component from reward_components where is_reward")
        assert rewards == ["judge" if average == 0.5 else "reward"]


def oldest(place: int, ask: str, reward: float, **more: Any) -> Row:
    """A row before examples had ids of their own."""
    row = filled("formats", "verifiers_oldest", place=place, ask=ask, reward=reward)
    return {**row, **more}


def oldest_files() -> dict[str, Any]:
    """Metrics and their averages stand at the top; a completion may be empty, and says so.

    Where an id has two questions, these distinguish tasks; where examples were repeated
    before they were counted, nothing is known of what was expected.
    """
    about = {"env": "quiz", "model": "m", "avg_reward": 0.75, "avg_right": 0.75, "avg_neat": 1.0}
    grid = {"num_examples": 2, "rollouts_per_example": 2}
    place = "evals/quiz--m/{}/{}".format
    return {
        place("a", "results.jsonl"): [
            oldest(0, "Q0?", 1.0),
            oldest(0, "Q1?", 0.0),
            oldest(1, "Q0?", 1.0, completion=[]),
            oldest(1, "Q1?", 1.0),
        ],
        place("a", "metadata.json"): [{**about, **grid}],
        place("b", "results.jsonl"): [oldest(0, "Q0?", 1.0), oldest(0, "Q0?", 0.5)],
        place("b", "metadata.json"): [{**about, "num_examples": 2, "rollouts_per_example": 1}],
    }


test_oldest = pytest.mark.slow(facts_of(oldest_files(), "verifiers_oldest"))


def boards(seeds: list[int]) -> list[Row]:
    """Three attempts at each board, in rounds; the prompt and the answer are always the same.

    Rows are numbered by position, without regard to the board.
    """
    return [
        oldest(place // 3, "Sink.", seed / 10, info={"seed": seed, "host": f"h{place}"})
        for place, seed in enumerate(seeds * 3)
    ]


def test_examples_that_differ_in_info_alone(tmp_path: Path) -> None:
    """Rows of an id with several boards are of several tasks, and runs share equal boards alone.

    What is another in each attempt is no example's.
    """
    runs = {"a": [0, 1, 2, 3, 4], "b": [3, 4, 5, 6, 7]}
    files = {f"evals/sea--m/{run}/results.jsonl": boards(seeds) for run, seeds in runs.items()}
    about = {"env": "sea", "model": "m", "num_examples": 5, "rollouts_per_example": 3}
    files |= {f"evals/sea--m/{run}/metadata.json": [about] for run in runs}
    results = analyzed(tmp_path, files, needs=["rollouts"])
    tasks = "select task_id, list_sort(list(distinct reward)), count(*) from rollouts group by all"
    rows = results.rows(tasks)
    assert sorted((rewards, n) for _, rewards, n in rows) == [
        ([seed / 10], 6 if seed in (3, 4) else 3) for seed in range(8)
    ]


def test_info_of_examples_with_ids(tmp_path: Path) -> None:
    """A board that all attempts at an example share is part of what it asks; its id stays."""
    questions: dict[int, list[formats.Row]] = {}
    for first in (0, 5):
        rows = [
            row | {"example_id": row["info"]["seed"] - first}
            for row in boards(list(range(first, first + 5)))
        ]
        path = write(tmp_path / str(first), {"results.jsonl": rows}) / "results.jsonl"
        read = verifiers_v0.read(Artifact(path, path.name, Kind.ROLLOUTS))
        questions[first] = [row for row in read if isinstance(row, formats.Row)]
    for rows in questions.values():
        assert [row.value["_ng_task_index"] for row in rows] == list("01234") * 3
        assert len({row.question for row in rows}) == 5
    assert not {row.question for row in questions[0]} & {row.question for row in questions[5]}


def test_info_beside_other_questions(tmp_path: Path) -> None:
    """Where the prompts tell examples apart, what else is known of them is no question."""
    rows = [oldest(task, f"Q{task}?", 1.0, info={"seed": task}) for task in range(3)]
    path = write(tmp_path, {"results.jsonl": rows}) / "results.jsonl"
    read = verifiers_v0.read(Artifact(path, path.name, Kind.ROLLOUTS))
    assert [row.question for row in read if isinstance(row, formats.Row)] == [None] * 3


def test_an_example_with_two_answers(tmp_path: Path) -> None:
    """An example has one answer."""
    rows = [oldest(0, "Guess.", 1.0, answer=word) | {"example_id": 0} for word in ("owl", "kite")]
    path = write(tmp_path, {"results.jsonl": rows}) / "results.jsonl"
    read = verifiers_v0.read(Artifact(path, path.name, Kind.ROLLOUTS))
    values = [row.value for row in read if isinstance(row, formats.Row)]
    assert [value["expected_answer"] for value in values] == ["owl", "kite"]
    assert not any("_ng_task_index" in value for value in values)


def test_a_completion_that_repeats_the_prompt(tmp_path: Path) -> None:
    """The prompt is left out, results belong to calls in order, and metrics are at the top."""
    calls = [json.dumps({"id": f"c{n}", "function": {"name": "run"}}) for n in range(2)]
    request = [{"role": "user", "content": "Q0?"}]
    results = [{"role": "tool", "content": f"{n}", "tool_calls": None} for n in range(2)]
    message = [*request, {"role": "assistant", "content": "", "tool_calls": calls}, *results]
    row = {**oldest(0, "Q0?", 1.0, completion=message, turns=5.0), "example_id": 0}
    path = write(tmp_path, {"results.jsonl": [row]}) / "results.jsonl"
    (actual,) = verifiers_v0.read(Artifact(path, path.name, Kind.ROLLOUTS))
    assert isinstance(actual, formats.Row)
    output = actual.value["response"]["output"]
    assert [(one["type"], one["call_id"]) for one in output] == [
        ("function_call", "c0"),
        ("function_call", "c1"),
        ("function_call_output", "c0"),
        ("function_call_output", "c1"),
    ]
    names = [one["name"] for one in (*actual.value["score"], *actual.value["scores"])]
    assert (names, actual.value["turns"]) == (["reward", "neat", "right"], 5.0)


def hosted(problem: int, reward: float, place: int, **more: Any) -> Row:
    """A sample of hosted training, with JSON in strings."""
    message = [
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "name": "scan"}]},
        {"role": "tool", "tool_call_id": "c", "content": "clean"},
        {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": None},
    ]
    row = {
        "problem_id": problem,
        "sample_id": place,
        "env_name": "lab/logs",
        "run_id": "abc",
        "step": 40,
        "prompt": json.dumps([{"role": "user", "content": f"Q{problem}"}]),
        "completion": json.dumps(message),
        "answer": '{"oracle": []}',
        "info": "",
        "metrics": json.dumps({"accuracy": reward, "num_turns": 2}),
        "timing": json.dumps({"start_time": 9.0 - place, "total": 1.5}),
        "num_input_tokens": 0,
        "num_output_tokens": 0,
        "reward": reward,
    }
    return {**row, **more}


HOSTED_RUN = {
    "id": "abc",
    "base_model": "org/m-2b",
    "max_tokens": 64,
    "environments": [{"id": "lab/logs", "args": {"reward_source": "judge", "api_key": "k"}}],
}


def hosted_files() -> dict[str, Any]:
    """Runs whose model a file beside them names, or none does; and one of two checkpoints."""
    matrix = {"environment": "e1", "model": "org/m-2b"}
    beside = {
        "one/abc/metadata.json": {"run": HOSTED_RUN},
        "two/abd/run_manifest.json": {"run_id": "abd", "model_id": "org/m-2b"},
        "three/run_matrix.json": {"matrix": [{**matrix, "prime_run_id": "abe"}]},
        # Of another run.
        "four/run_matrix.json": {"matrix": [{**matrix, "prime_run_id": "xyz"}]},
    }
    files: dict[str, Any] = {path: json.dumps(content) for path, content in beside.items()}
    for folder in ("one/abc", "two/abd", "three/abe"):
        name = folder.rpartition("/")[2]
        samples = [(3, 1.0, 0), (3, 0.0, 1), (7, 1.0, 2)]
        rows = [hosted(*sample, run_id=name) for sample in samples]
        files[f"{folder}/results.jsonl"] = lines(rows)
        # The same rows as the platform gave them.
        files[f"{folder}/rollouts_raw.json"] = json.dumps({"run_id": name, "samples": rows})
    for run, problem, step in (("abf", 5, 40), ("abg", 6, 0), ("abg", 6, 40)):
        row = hosted(problem, 1.0, 0, run_id=run, step=step, env_name=f"lab/{run}")
        files.setdefault(f"four/{run}/results.jsonl", []).append(row)
    return files


test_hosted_training = pytest.mark.slow(facts_of(hosted_files(), "verifiers_hosted"))


def test_arguments_of_a_hosted_environment(tmp_path: Path) -> None:
    """They are settings of the run, without what may be a secret."""
    path = write(tmp_path, {"metadata.json": json.dumps({"run": HOSTED_RUN})}) / "metadata.json"
    actual = list(verifiers_v0.read(Artifact(path, path.name, Kind.AGGREGATE_METRICS)))
    assert actual == [
        formats.Setting("model", "org/m-2b"),
        formats.Setting("max_tokens", "64"),
        formats.Setting("task_args.reward_source", "judge"),
    ]


def test_a_completion_that_is_json_is_an_answer(tmp_path: Path) -> None:
    """Only a list of messages is read as one: a model may answer in JSON."""
    rows = [rollout(0, 1.0, 1.0, completion='[{"a": 1}]', metrics='{"right": 1.0}')]
    path = write(tmp_path, {"results.jsonl": rows}) / "results.jsonl"
    (actual,) = verifiers_v0.read(Artifact(path, path.name, Kind.ROLLOUTS))
    assert isinstance(actual, formats.Row)
    assert [item["content"] for item in actual.value["response"]["output"]] == ['[{"a": 1}]']
    assert [score["name"] for score in actual.value["scores"]] == ["right"]


def episode(place: int, score: Any, start: float, **more: Any) -> Row:
    """A line of traces.jsonl."""
    trace = filled("formats", "verifiers_trace", place=place, score=score, start=start)
    return filled("formats", "verifiers_episode", place=place, trace={**trace, **more})


def new_files() -> dict[str, Any]:
    """Rewards are weighted sums; without any an attempt is unscored; the last way is read."""
    broken = {"errors": [{"type": "ProviderError", "message": "529"}], "rewards": {}, "nodes": []}
    loop = [{"parent": 0, "message": {"role": "user", "content": "Q1"}}, {"parent": 5}]
    rows = [
        episode(0, 1, 20.0),
        episode(0, 0, 10.0),
        episode(1, 1, 1.0, **broken),
        episode(1, None, 2.0, nodes=loop),
        {"task": {"data": {"idx": 2}}, "traces": []},
        {"task": {}, "traces": []},
    ]
    config = {"model": "org/m", "num_rollouts": 2, "sampling": {"temperature": 0.3}}
    return {
        "out/sums--m--null--1/traces.jsonl": lines(rows),
        "out/sums--m--null--1/configs/resolved/eval.json": [config],
    }


test_new = pytest.mark.slow(facts_of(new_files(), "verifiers_new"))
