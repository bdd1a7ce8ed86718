"""BFCL: attempts of the results, failures of the scores, and failures alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fact_files import facts_of
from tests.results import Content, Results, Row, analyzed, lines


def attempt(task: str, answer: Any, **more: Any) -> Row:
    """A line of results."""
    counts = {"input_token_count": 20, "output_token_count": 5, "latency": 0.5}
    return {"id": task, "result": answer, **counts, **more}


def failure(task: str, **more: Any) -> Row:
    """A line of scores."""
    about = {"model_name": "m", "test_category": "simple", "valid": False}
    wrong = {"error": ["Wrong number of functions."], "error_type": "checker:wrong_count"}
    prompt = {"id": task, "question": [[{"role": "user", "content": f"do {task}"}]]}
    return {"id": task, **about, **wrong, "prompt": prompt, "model_result_raw": [], **more}


def header(n_correct: int, n_all: int) -> Row:
    """The first line of scores."""
    return {"accuracy": n_correct / n_all, "correct_count": n_correct, "total_count": n_all}


ACCEPTED = [{"add": {"x": [1], "y": ["", 2], "unit": ["metre"]}}]
BROKEN = "Error during inference: Error code: 500 - no header"
TURNS = [
    [{"role": "state_info", "content": {"password": "p"}}],
    {
        "begin_of_turn_query": [{"role": "user", "content": "list files"}],
        "step_0": [
            {"role": "assistant", "content": [{"ls": '{"a": true}'}, {"pwd": "{}"}]},
            {"role": "handler_log", "content": "decoded"},
            {"role": "tool", "content": "a.txt"},
            {"role": "tool", "content": "/home"},
        ],
        "step_1": [{"role": "assistant", "content": "one file"}],
    },
    {"begin_of_turn_query": [{"role": "user", "content": "thanks"}], "step_0": []},
]
FILES: dict[str, Content] = {
    "result/org_m-FC/non_live/BFCL_v4_simple_result.json": lines(
        [
            attempt("simple_0", [{"add": '{"x": 1}'}]),
            attempt("simple_1", []),
            attempt("simple_2", "no"),
            {"id": "simple_3", "result": BROKEN, "traceback": "Traceback"},
        ]
    )
    + "\n{broken\n",
    "score/org_m-FC/non_live/BFCL_v4_simple_score.json": [
        header(3, 5),
        failure("simple_1", possible_answer=ACCEPTED),
        failure(
            "simple_3", possible_answer=ACCEPTED, error=["Error during inference phase. No list."]
        ),
    ],
    "result/org_m-FC/multi_turn/BFCL_v4_multi_turn_base_result.json": [
        attempt(
            "multi_0",
            [[[{"ls": "{}"}], []]],
            inference_log=TURNS,
            input_token_count=[[30, 40], [5]],
            latency=[[1.0, 0.5], []],
        ),
        attempt("multi_1", [[["ls()"]]], input_token_count=0, output_token_count=0),
    ],
    "score/org_m-FC/multi_turn/BFCL_v4_multi_turn_base_score.json": [
        header(1, 2),
        failure("multi_1", error={"error_message": "empty turn", "error_type": "multi_turn:empty"}),
    ],
    # Only the scores: two attempts passed, and nothing else is known of them.
    "alone/score/m2/BFCL_v3_simple_score.json": [header(2, 3), failure("simple_1"), {"id": "x"}],
    # Not scored yet; of another tool.
    "other/result/m3/BFCL_v3_simple_result.json": [attempt("simple_0", "f()")],
    "other/class_result.json": json.dumps({"id": 1, "value": 2}),
}


# Four models, one with a line that cannot be read.
test_results_and_scores = facts_of(FILES, "bfcl")


@pytest.mark.slow
def test_an_error_of_the_harness_comes_before_modes(tmp_path: Path) -> None:
    """Its text is listed first, however few failures it explains, and the report shows it."""
    wrong = [f"simple_{n}" for n in range(20)]
    ended = wrong[:6]
    results = [attempt(task, [{"add": "{}"}]) for task in wrong[6:]]
    scores = [failure(task) for task in wrong[6:]]
    phase = "Error during inference phase. Model did not output a list."
    results += [{"id": task, "result": BROKEN} for task in ended]
    scores += [failure(task, error={"error_message": [phase]}) for task in ended]
    results += [attempt(f"good_{n}", [{"add": "{}"}]) for n in range(20)]
    files: dict[str, Content] = {
        "result/m/BFCL_v3_simple_result.json": results,
        "score/m/BFCL_v3_simple_score.json": [header(20, 40), *scores],
    }
    actual = analyzed(tmp_path, files)
    assert actual.rows("select mode, look_at, n_failures from recommendations where rank = 1") == [
        ("error_message has an error", "harness or verifier", 6)
    ]
    assert actual.rows("select distinct mode from failure_modes where parent is not null") == [
        ("error: Error during inference: Error code: 500 - no header",)
    ]
    assert "Error during inference: Error code" in (actual.path.parent / "report.md").read_text(
        encoding="utf-8"
    )


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Models whose scores count other attempts, number failures, or ask for no call."""
    files: dict[str, Content] = {}
    numbered = {"id": 2, "prompt": {"id": "simple_1", "question": [[]]}}
    for model, counts, listed in (
        ("others", header(1, 2), failure("simple_1")),
        ("numbered", header(2, 3), {**failure("simple_1"), **numbered}),
    ):
        answers = [attempt(f"simple_{n}", "f()") for n in range(3)]
        files[f"result/{model}/BFCL_v3_simple_result.json"] = answers
        files[f"score/{model}/BFCL_v3_simple_score.json"] = [counts, listed]
    for category, answer in (("live_irrelevance", []), ("simple", []), ("java", "")):
        name = f"{category}_0"
        files[f"result/silent/BFCL_v4_{category}_result.json"] = [attempt(name, answer)]
        files[f"score/silent/BFCL_v4_{category}_score.json"] = [header(1, 1)]
    without_question = {key: value for key, value in failure("2").items() if key != "prompt"}
    failures = [{**without_question, "id": 2}, {**failure("relevance_2"), "id": 3}]
    old = "gorilla_openfunctions_v1_test_relevance_result.json"
    files[f"result/old/{old}"] = [attempt(f"relevance_{n}", "[f(a=1)]") for n in range(3)]
    files["score/old/relevance_score.json"] = [header(1, 3), *failures]
    needs = ("rollouts", "runs", "health_findings")
    return analyzed(tmp_path_factory.mktemp("scored"), files, needs=needs)


@pytest.mark.parametrize(
    ("model", "benchmark", "rewards"),
    [
        # Where other attempts are counted than there are, one that is no failure may be none.
        ("others", "simple", [None, 0.0, None]),
        # The id of a failure may be a number where the question has the one of the attempt.
        ("numbered", "simple", [1.0, 0.0, 1.0]),
        # In 2024 failures were numbered from 1, some without their question.
        ("old", "relevance", [1.0, 0.0, 0.0]),
    ],
)
def test_how_failures_are_named(
    model: str, benchmark: str, rewards: list[float | None], scored: Results
) -> None:
    """An attempt that is no failure passed, if the scores count the attempts that are here."""
    rows = scored.rows(f"""
        select benchmark, task_id, reward from rollouts inner join runs using (run_id)
        where source_file like 'result/{model}/%' order by task_id
    """)
    assert rows == [(benchmark, f"{benchmark}_{n}", one) for n, one in enumerate(rewards)]


def test_no_call_is_an_answer_where_none_is_asked_for(scored: Results) -> None:
    """What is right there is no sign of a broken attempt; elsewhere an empty answer is."""
    assert scored.rows("""
        select task_id, check_id from health_findings
        where run_id like 'silent%' order by all
    """) == [("java_0", "response_no_output"), ("simple_0", "response_no_output")]
