"""lm-evaluation-harness: one run per task and filter, its published figures found again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.artifact import Artifact, Kind
from pipeline.ingest import formats
from pipeline.ingest.formats import lm_eval, lm_eval_sample
from tests.case_files import filled
from tests.fact_files import facts_of
from tests.results import Row, analyzed, lines, write

TIME = "2026-01-02T03-04-05.678"


def sample(doc: int, score: Any, of_filter: str = "none", **more: Any) -> Row:
    """A line of samples: one document under one filter."""
    return {
        **filled("formats", "lm_eval_sample", doc=doc, score=score, of_filter=of_filter),
        **more,
    }


def results(task: str, **figures: float) -> dict[str, Any]:
    """A results file of one task."""
    metrics = [{"metric": "exact_match", "aggregation": "mean"}]
    return {
        "results": {task: figures},
        "configs": {task: {"metric_list": metrics, "output_type": "generate_until"}},
        "n-samples": {task: {"effective": 3}},
        "model_name": "org/tiny",
    }


def files() -> dict[str, Any]:
    """Three documents expected under two filters, one line damaged, one score missing."""
    rows = [sample(0, 1.0, "a"), sample(1, 0.0, "a"), sample(0, None, "b"), sample(1, True, "b")]
    figures = {"exact_match,a": 0.5, "exact_match_stderr,a": 0.5, "exact_match,b": 0.9}
    figures["half a character: \ud800,a"] = 1.0
    return {
        f"m/samples_sums_{TIME}.jsonl": lines(rows) + "{broken\n\n",
        f"m/results_{TIME}.json": lines([results("sums", **figures)]),
    }


test_samples = facts_of(files(), "lm_eval")


@pytest.mark.slow
def test_a_suite_counts_one_grading_of_a_response(tmp_path: Path) -> None:
    """Two filters of one task are no two benchmarks of an average."""
    files: dict[str, Any] = {}
    for model in ("one", "two"):
        about = results("sums", **{"exact_match,a": 0.5, "exact_match,b": 0.5})
        about["results"]["words"] = {"exact_match,none": 0.5}
        about["model_name"] = f"org/{model}"
        answer = {"resps": [[f"{model} says 7"]]}
        files |= {
            f"{model}/samples_sums_{TIME}.jsonl": [
                sample(doc, doc % 2, of_filter, **answer) for of_filter in "ab" for doc in range(4)
            ],
            f"{model}/samples_words_{TIME}.jsonl": [
                sample(doc, doc % 2, **answer, arguments=[[f"Word {doc}?", {}]]) for doc in range(4)
            ],
            f"{model}/results_{TIME}.json": json.dumps(about),
        }
    actual = analyzed(tmp_path, files, needs=("runs", "run_metrics", "suite_cells", "suite_notes"))
    assert actual.column("select distinct benchmark from runs order by 1") == [
        "sums-a",
        "sums-b",
        "words",
    ]
    assert actual.column("select distinct benchmark from suite_cells order by 1") == [
        "sums-a",
        "words",
    ]
    assert actual.rows("select kind, benchmark, message from suite_notes") == [
        ("left out", "sums-b", "grades the same responses as sums-a: it is in no average")
    ]


def grouped() -> dict[str, Any]:
    """`math` has a figure of its tasks, which are in groups; `all` only lists what was run."""
    about = results("sums", **{"exact_match,none": 0.5})
    for task in ("roots", "words"):
        about["configs"][task] = about["configs"]["sums"]
        about["results"][task] = {"exact_match,none": 1.0}
        about["n-samples"][task] = {"effective": 1}
    about["n-samples"]["sums"] = {"effective": 2}
    about["results"] |= {
        "math": {"exact_match,none": 2 / 3, "exact_match_stderr,none": 0.3},
        "hard": {"exact_match,none": 1.0},
        "all": {"alias": "all"},
    }
    about["group_subtasks"] = {"all": ["math", "words"], "math": ["easy", "hard"]}
    about["group_subtasks"] |= {"easy": ["sums"], "hard": ["roots"]}
    return {
        f"m/samples_sums_{TIME}.jsonl": [sample(0, 1.0), sample(1, 0.0)],
        f"m/samples_roots_{TIME}.jsonl": [sample(0, 1.0)],
        f"m/samples_words_{TIME}.jsonl": [sample(0, 1.0, arguments=[["Which word?", {}]])],
        f"m/results_{TIME}.json": json.dumps(about),
    }


test_groups = facts_of(grouped(), "lm_eval_groups")


def test_a_group_is_one_run_only_of_one_metric(tmp_path: Path) -> None:
    """A group of tasks with other metrics has no score, and figures of missing samples no rows."""
    about = json.loads(grouped()[f"m/results_{TIME}.json"])
    about["configs"]["roots"] = {"metric_list": [{"metric": "f1"}]}
    path = write(tmp_path, {f"results_{TIME}.json": json.dumps(about)}) / f"results_{TIME}.json"
    artifact = Artifact(
        path, path.name, Kind.AGGREGATE_METRICS, beside=(Path("samples_sums.jsonl"),)
    )
    read = {one.metric: one for one in lm_eval.read(artifact) if isinstance(one, formats.Figure)}
    assert read["exact_match,none"].variant == "sums" and read["exact_match,none"].is_main
    assert read["math/exact_match,none"].reason == "of a group of tasks"
    about = json.loads(grouped()[f"m/results_{TIME}.json"])
    write(tmp_path, {f"results_{TIME}.json": json.dumps(about)})
    partly = [
        one for one in lm_eval.read(artifact) if isinstance(one, formats.Figure) and one.is_main
    ]
    assert [(one.variant, one.means, one.reason) for one in partly] == [
        ("math", None, "no samples of some of its tasks were logged")
    ]


def repeated() -> dict[str, Any]:
    """Repeats are one attempt, those behind its answer last; what found no answer has none."""
    request = {"resps": [["it is 7", "it is 8", "no idea"]]}
    rows = [sample(0, 1.0, filtered_resps=["7"], **request)]
    rows.append(sample(1, 0.0, filtered_resps=["[invalid]"], **request))
    return {f"org__tiny/samples_sums_{TIME}.jsonl": rows}


test_repeats_of_a_row = pytest.mark.slow(facts_of(repeated(), "lm_eval_repeats"))


def old(doc: int, score: float, answer: str) -> Row:
    """A row as written before 0.4.3: arguments are lists, and neither filter nor metrics named."""
    row = sample(doc, score, arguments=[[f"Q{doc}?", {"until": ["."]}]], filtered_resps=[[answer]])
    return {name: row[name] for name in row if name not in ("filter", "metrics")}


def unfiltered() -> dict[str, Any]:
    """The nth row of a document is of the nth filter; a file of rows may be one JSON list."""
    rows = [old(0, 1.0, "7"), old(1, 0.0, "[invalid]"), old(0, 1.0, "7"), old(1, 1.0, "7")]
    names = [{"name": "strict"}, {"name": "flexible"}]
    about = results("sums", **{"exact_match,strict": 0.5, "exact_match,flexible": 1.0})
    about["configs"]["sums"] |= {"filter_list": names}
    about["config"] = {"model_args": "pretrained=org/small,dtype=auto"}
    del about["model_name"], about["n-samples"]
    return {
        "out/pretrained__org__small,dtype__auto_sums.jsonl": json.dumps(rows, indent=2),
        "out/results.json": json.dumps(about, indent=2),
    }


test_rows_that_name_no_filter = pytest.mark.slow(facts_of(unfiltered(), "lm_eval_unfiltered"))


@pytest.mark.slow
def test_what_a_fork_measures(tmp_path: Path) -> None:
    """Tokens and times beside the metrics of a row are its own; those of its document are not."""
    spent = {"token_usage": {"prompt_tokens": 700, "completion_tokens": 5}, "latency_ms": 55.0}
    rows = [
        sample(0, 1.0, **spent),
        sample(1, 0.0) | {"doc": {"latency_ms": 9.0, "usage": {"input_tokens": 3}}},
    ]
    files = {f"m/samples_sums_{TIME}.jsonl": rows}
    query = "select task_id, input_tokens, output_tokens, duration_s from rollouts order by all"
    assert analyzed(tmp_path, files, needs=["rollouts"]).rows(query) == [
        ("0", 700, 5, 0.055),
        ("1", None, None, None),
    ]


def test_code_and_seeds_are_settings(tmp_path: Path) -> None:
    """Two evaluations of a model may differ in the commit, and in what the configuration says."""
    about = results("sums") | {"git_hash": "c068ec60", "lm_eval_version": "0.4.12"}
    about |= {"config": {"batch_size": 1, "numpy_seed": 1234, "total_energy_joules": 1.27}}
    path = write(tmp_path, {f"results_{TIME}.json": json.dumps(about)}) / f"results_{TIME}.json"
    artifact = Artifact(
        path, path.name, Kind.AGGREGATE_METRICS, beside=(Path("samples_sums.jsonl"),)
    )
    stated = [one for one in lm_eval.read(artifact) if isinstance(one, formats.Setting)]
    assert {one.name: one.value for one in stated} == {
        "model_name": "org/tiny",
        "commit": "c068ec60",
        "lm_eval_version": "0.4.12",
        "batch_size": "1",
        "numpy_seed": "1234",
    }


def test_results_by_any_name_above_the_samples(tmp_path: Path) -> None:
    """Results are found by their time, in the folder of the samples or above it."""
    write(
        tmp_path,
        {
            f"runs/luo_5shot_{TIME}.json": json.dumps(results("sums")),
            f"runs/org__tiny/samples_sums_{TIME}.jsonl": [sample(0, 1.0)],
            "runs/results_2025-01-02T03-04-05.678.json": json.dumps(results("sums")),
            "runs/documents.jsonl": [{"doc_id": 0, "text": "of another kind" * 500}],
        },
    )
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    actual = [formats.ListedFile(path, str(path.relative_to(tmp_path))) for path in files]
    assert [(one.file.base, one.kind.name, one.stem) for one in lm_eval.claims(actual)] == [
        (f"samples_sums_{TIME}.jsonl", "ROLLOUTS", "tiny"),
        (f"luo_5shot_{TIME}.json", "AGGREGATE_METRICS", "tiny"),
    ]


SAMPLES = [sample(0, 1.0), sample(1, 0.0)]
NAMES: dict[str, dict[str, str]] = {
    "results without a time": {f"m/samples_sums_{TIME}.jsonl": "m/own.json"},
    "results without a time above": {f"m/samples_sums_{TIME}.jsonl": "own.json"},
    "samples without a time": {"m/samples_sums.jsonl": f"m/results_{TIME}.json"},
    "another name in both": {
        "m/samples_a_sums.jsonl": "m/results_a.json",
        "m/samples_b_sums.jsonl": "m/results_b.json",
    },
    "words behind the task": {
        "m/samples_sums_base.jsonl": f"m/x_base_{TIME}.json",
        "m/samples_sums_L1.jsonl": "m/x_level1_2025-02-02T03-04-05.678.json",
        "m/samples_sums_L2.jsonl": "m/x_level2_2025-03-02T03-04-05.678.json",
    },
    "results of another time": {
        f"m/samples_sums_{TIME}.jsonl": "",
        "none": "m/results_2025-01-02T03-04-05.678.json",
    },
}


@pytest.mark.parametrize("case", NAMES)
def test_results_by_their_task_and_name(case: str, tmp_path: Path) -> None:
    """Results with names of their own are joined with the samples of the tasks that they list."""
    files: dict[str, Any] = {}
    for rows, about in NAMES[case].items():
        files |= {rows: SAMPLES} if rows != "none" else {}
        files |= {about: json.dumps(results("sums"))} if about else {}
    write(tmp_path, files)
    listed = [formats.ListedFile(tmp_path / name, name) for name in sorted(files)]
    claims = formats.claims(listed)
    beside = {
        name: claims[name].beside[0].relative_to(tmp_path).as_posix() if claims[name].beside else ""
        for name in files
        if name.endswith(".jsonl")
    }
    assert beside == {rows: about for rows, about in NAMES[case].items() if rows != "none"}
    runs = {(claims[name].stem, claims[name].mark) for name in beside}
    assert len(runs) == len(beside)


@pytest.mark.slow
def test_a_name_before_the_task(tmp_path: Path) -> None:
    """The task is the one that the results list, however the samples are named."""
    files = {
        "m/samples_own_sums.jsonl": SAMPLES,
        "m/results_own.json": json.dumps(results("sums", **{"exact_match,none": 0.5})),
    }
    actual = analyzed(tmp_path, files, needs=["runs"])
    assert actual.rows("select benchmark, model, reported_score from runs") == [
        ("sums", "org/tiny", 0.5)
    ]


def test_what_the_reward_is() -> None:
    """No placeholder, no likelihood of which only all rows make a figure, none that is worse."""
    by_row = {"metric": "acc", "aggregation": "mean", "higher_is_better": True}
    of_all = {"metric": "perplexity", "aggregation": "perplexity", "higher_is_better": False}
    config = {"metric_list": [of_all, by_row]}
    both = sample(0, None, metrics=["perplexity", "acc"], perplexity=-2.5, acc=1.0)
    assert lm_eval_sample.row(both, config, None)["reward"] == 1.0
    one = sample(0, None, metrics=["perplexity"], perplexity=-2.5)
    assert lm_eval_sample.row(one, config, None)["reward"] is None
    unscored = {**old(0, 1.0, "7"), "bypass": 999}
    del unscored["exact_match"], unscored["f1"]
    row = lm_eval_sample.row(unscored, {}, None)
    assert row["reward"] is None and "scores" not in row


@pytest.mark.parametrize(
    ("config", "more", "reward"),
    [
        ({"output_type": "multiple_choice"}, {"mcc": [1, 1]}, 1.0),
        ({"output_type": "multiple_choice"}, {"f1": [2, 0]}, 0.0),
        # A score of the row goes before, and a function of the task may keep anything.
        ({"output_type": "multiple_choice"}, {"acc_norm": 0.0, "f1": [1, 1]}, 0.0),
        ({"output_type": "multiple_choice", "process_results": "def f():"}, {"f1": [1, 1]}, None),
        ({"output_type": "generate_until"}, {"f1": [1, 1]}, None),
        ({"output_type": "multiple_choice"}, {"f1": ["a", "a"]}, None),
        ({}, {"mcc": [1, 1]}, None),
    ],
)
def test_the_right_choice_and_the_one_made(
    config: dict[str, Any], more: dict[str, Any], reward: float | None
) -> None:
    """The harness keeps both of every choice where a metric is of all rows."""
    scored = {**sample(0, 0.0), **more, "metrics": [*more]}
    del scored["exact_match"]
    assert lm_eval_sample.row(scored, config, None)["reward"] == reward


def test_a_chat_template_is_messages() -> None:
    """What was asked is a list of messages, as JSON, and that in a list."""
    messages = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "Q?"}]
    for request in (messages, json.dumps(messages), [json.dumps(messages)]):
        row = sample(0, 1.0, arguments={"gen_args_0": {"arg_0": request, "arg_1": {}}})
        inputs = lm_eval_sample.row(row, {}, None)["responses_create_params"]["input"]
        assert [(one["role"], one["content"]) for one in inputs] == [
            ("system", "be brief"),
            ("user", "Q?"),
        ]


def test_figures_of_groups_and_of_functions(tmp_path: Path) -> None:
    """Why a figure is not compared: it is of a group, or of a function of the task's own."""
    about = results("sums", **{"f1,none": 0.1})
    about["configs"]["sums"]["metric_list"] = [
        {"metric": "f1", "aggregation": "def span_f1(items):\n    return 1\n"}
    ]
    about["results"]["all_sums"] = {"acc,none": 0.5, "alias": "all_sums"}
    about["group_subtasks"] = {"all_sums": ["sums"], "sums": []}
    path = write(tmp_path, {f"results_{TIME}.json": json.dumps(about)}) / f"results_{TIME}.json"
    beside = (tmp_path / f"samples_sums_{TIME}.jsonl",)
    artifact = Artifact(path, path.name, Kind.AGGREGATE_METRICS, beside=beside)
    figures = [one for one in lm_eval.read(artifact) if isinstance(one, formats.Figure)]
    assert {one.metric: one.reason for one in figures if one.means is None} == {
        "f1,none": "defined otherwise: an aggregate (span_f1) of all rows",
        "all_sums/acc,none": "of a group of tasks",
    }


@pytest.mark.parametrize(
    ("target", "metric", "reward", "shown"),
    [
        # The likeliest is B; C has the highest likelihood per character.
        (0, "acc", 0.0, ("B", "A")),
        ("1", "acc", 1.0, ("B", "B")),
        ("C long", "acc_norm", 1.0, ("C long", "C long")),
        # What the score contradicts is not what it was made of; nor is another metric.
        (1, "acc", 0.0, (None, None)),
        (0, "brier_score", 0.3, (None, None)),
        (7, "acc", 0.0, (None, None)),
    ],
)
def test_the_choice_and_the_right_one(
    target: Any, metric: str, reward: float, shown: tuple[str | None, str | None]
) -> None:
    """By the likelihoods of the choices, as the metric takes them."""
    arguments = {
        f"gen_args_{n}": {"arg_0": "Which?", "arg_1": f" {choice}"}
        for n, choice in enumerate(("A", "B", "C long"))
    }
    likelihoods = [["-9.0", "False"], ["-3.0", "False"], ["-4.0", "False"]]
    one = {
        "doc_id": 0,
        "target": target,
        "arguments": arguments,
        "filtered_resps": likelihoods,
        "metrics": [metric],
        metric: reward,
    }
    row = lm_eval_sample.row(one, {"output_type": "multiple_choice"}, "m")
    answer, key = shown
    assert row.get("extracted_answer") == answer
    assert row["target"] == (target if key is None else key)


def test_arguments_of_the_model_are_settings() -> None:
    """All but its name and where it is served, of a text or an object, and no secrets."""
    written = "pretrained=org/m,base_url=http://x:1,schema=a.B,api_key=sk-1,stop=[1,2],dtype=auto"
    expected = {"schema": "a.B", "stop": "[1,2]", "dtype": "auto"}
    known = {"config": {"model_args": written}}
    settings = {one.name: one.value for one in lm_eval._settings(known)}
    assert settings == {
        "model_name": "org/m",
        **{f"model_args.{k}": v for k, v in expected.items()},
    }
    known = {"config": {"model_args": {"pretrained": "org/m", "dtype": "auto"}}}
    assert "model_args.dtype" in {one.name for one in lm_eval._settings(known)}


def test_a_template_does_not_change_the_question(tmp_path: Path) -> None:
    """Documents pair tasks, and what was asked of each model is a setting."""
    files = {
        f"{model}/samples_sums_{TIME}.jsonl": [
            sample(doc, 1.0, doc_hash=f"{model} {doc}")
            | {"doc": {"question": f"What is {doc} + 1?"}, "arguments": [[words.format(doc), {}]]}
            for doc in (1, 2)
        ]
        for model, words in (
            ("base", "What is {} + 1?"),
            ("chat", "<|user|>What is {} + 1?<|end|>"),
        )
    }
    actual = analyzed(tmp_path, files, needs=("comparison_tasks", "comparison_settings"))
    assert actual.rows("select distinct pairing from comparison_tasks") == [("verified",)]
    assert actual.rows("""
        select base_value, candidate_value, n_tasks from comparison_settings
        where setting = 'prompt'
    """) == [("What is 1 + 1?", "<|user|>What is 1 + 1?<|end|>", 2)]


@pytest.mark.parametrize(
    ("metrics", "reward"),
    [
        ({"bleu_max": 27.5, "bleu_acc": 1, "bleu_diff": 3.0}, 1),
        ({"bleu_max": 27.5, "rouge_acc": 1}, 27.5),
        ({"f1": 0.5, "f1_acc": 0}, 0.5),
    ],
)
def test_the_accuracy_made_of_a_similarity_is_the_score(
    metrics: dict[str, float], reward: float
) -> None:
    """Only that of the same measure, and only where the first one is no accuracy."""
    config = {"metric_list": [{"metric": name} for name in metrics]}
    read = lm_eval_sample.row({"doc_id": 0, "doc": {}, **metrics}, config, None)
    assert read["reward"] == reward


def test_another_metric_is_chosen_by_its_name(tmp_path: Path) -> None:
    """A score that is listed by name is a field that can be named."""
    rows = [sample(doc, 0.0, f1=0.5) for doc in range(3)]
    files = {f"m/samples_sums_{TIME}.jsonl": rows}
    profile = tmp_path / "blade.toml"
    profile.write_text('[fields]\nreward = "f1"\n', encoding="utf-8")
    actual = analyzed(tmp_path, files, needs=["rollouts"], profile=profile)
    assert actual.column("select reward from rollouts") == [0.5] * 3
