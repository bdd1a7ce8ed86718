"""lm-evaluation-harness: one run per task and filter, its published figures found again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import pipeline
from tests.conftest import ROOT
from tests.lean import CHECKED, only
from tests.results import Results, Row, analyzed, lines

CORPUS = ROOT.parent / "shared" / "formats_corpus" / "lm_eval"
TIME = "2026-01-02T03-04-05.678"
NEEDS = (*CHECKED, "checks")


def sample(doc: int, score: Any, of_filter: str = "none", **more: Any) -> Row:
    """A line of samples: one document under one filter."""
    asked = {"arg_0": f"Q{doc}?", "arg_1": {"temperature": 0.5, "max_gen_toks": 9}}
    return {
        "doc_id": doc,
        "doc": {"level": "hard"},
        "target": "7",
        "arguments": {"gen_args_0": asked},
        "resps": [["it is 7"]],
        "filtered_resps": ["7"],
        "filter": of_filter,
        "metrics": ["f1", "exact_match"],
        "exact_match": score,
        "f1": 0.5,
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


@pytest.fixture(scope="module")
def sums(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Three documents expected under two filters, one line damaged, one score missing."""
    rows = [sample(0, 1.0, "a"), sample(1, 0.0, "a"), sample(0, None, "b"), sample(1, True, "b")]
    figures = {"exact_match,a": 0.5, "exact_match_stderr,a": 0.5, "exact_match,b": 0.9}
    files = {
        f"m/samples_sums_{TIME}.jsonl": lines(rows) + "{broken\n\n",
        f"m/results_{TIME}.json": lines([results("sums", **figures)]),
    }
    return analyzed(tmp_path_factory.mktemp("lm"), files, needs=NEEDS)


def test_a_run_per_filter(sums: Results) -> None:
    """Two filters of a task are two runs of the benchmark that the task is."""
    assert sums.rows(
        "select run_id, benchmark, model, n_expected, n_scored from runs order by 1"
    ) == [
        ("tiny--sums-a", "sums", "org/tiny", 3, 2),
        ("tiny--sums-b", "sums", "org/tiny", 3, 1),
    ]


def test_scores(sums: Results) -> None:
    """The declared metric is the reward, the others are checks; what has no score has no reward."""
    assert sums.rows("select run_id, task_id, reward from rollouts order by all") == [
        ("tiny--sums-a", "0", 1.0),
        ("tiny--sums-a", "1", 0.0),
        ("tiny--sums-b", "0", None),
        ("tiny--sums-b", "1", 1.0),
    ]
    assert sums.rows(
        "select source, check_name, score from checks where run_id = 'tiny--sums-a' "
        "and task_id = '0' order by all"
    ) == [("score", "exact_match", 1.0), ("scores", "f1", 0.5)]


def test_repeats_of_a_row(tmp_path: Path) -> None:
    """Repeats are one attempt, those behind its answer last; what found no answer has none."""
    asked = {"resps": [["it is 7", "it is 8", "no idea"]]}
    rows = [sample(0, 1.0, filtered_resps=["7"], **asked)]
    rows.append(sample(1, 0.0, filtered_resps=["[invalid]"], **asked))
    found = analyzed(tmp_path, {f"samples_sums_{TIME}.jsonl": rows}, needs=("rollouts", "events"))
    assert found.rows("select task_id, answer, n_events, final_text from rollouts order by 1") == [
        ("0", "7", 3, "[repeat 0] it is 7"),
        ("1", None, 3, "[repeat 2] no idea"),
    ]


def test_published_figures(sums: Results) -> None:
    """Means and standard errors are found again, or differ and are said to."""
    assert sums.rows("select run_id, metric, ours, status from reported_checks order by all") == [
        ("tiny--sums-a", "exact_match,a", 0.5, "equal"),
        ("tiny--sums-a", "exact_match_stderr,a", 0.5, "equal"),
        # The broken line may have been one of its rows.
        ("tiny--sums-b", "exact_match,b", 1.0, "not comparable"),
    ]


def test_every_line_counts(sums: Results) -> None:
    """A damaged line is a reject at its own line; lines are rows, rejects and blanks."""
    assert sums.rows("select source_line, reason from rejects")[0][0] == 5
    assert sums.rows(
        "select n_lines, n_rows, n_rejects, n_blank from artifacts where kind = 'rollouts'"
    ) == [(6, 4, 1, 1)]


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
def test_corpus(tmp_path: Path) -> None:
    """The figures that the corpus is known by; every published one is equal, or has no samples."""
    with only(*NEEDS):
        pipeline.analyze(CORPUS, out=tmp_path)
    found = Results(tmp_path)
    assert found.rows("select run_id, round(mean_reward, 4) from run_metrics order by all") == [
        ("coin-a--arith_gen-maj3", 0.75),
        ("coin-a--arith_gen-strict-match", 0.75),
        ("coin-a--arith_mc", 0.1667),
        ("mem_Qwen3-93M_minerva_math_rep_0_sbst_1.0000_epch_1_ot_1", 0.0),
    ]
    assert found.rows(
        "select status, reason, count(*) from reported_checks group by all order by all"
    ) == [("equal", None, 10), ("not comparable", "no samples of this task were logged", 2)]
