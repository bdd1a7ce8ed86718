"""NeMo-Skills: a run per benchmark, a repeat per seed, and the figures of metrics.json."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import pipeline
from pipeline.artifact import Artifact, Kind
from pipeline.ingest.formats import Figure, nemo_skills
from pipeline.ingest.formats.nemo_skills_row import row_of
from tests.conftest import ROOT
from tests.lean import CHECKED, only
from tests.results import Results, Row, analyzed, lines, write

CORPUS = ROOT.parent / "shared" / "formats_corpus" / "nemo_skills"
NEEDS = (*CHECKED, "checks")


def row(task: int, answer: str | None, *, is_correct: bool | None, **more: Any) -> Row:
    """A line of an output: the question of a task, and its answer."""
    said = {"problem": f"Q{task}?", "expected_answer": "7", "generation": f"It is {answer}."}
    scored = {} if is_correct is None else {"symbolic_correct": is_correct}
    took = {"generation_start_time": 10.0, "generation_end_time": 12.5, "num_generated_tokens": 5}
    return {**said, "predicted_answer": answer, **scored, **took, "level": "hard", **more}


@pytest.mark.parametrize(
    ("scored", "reward", "others"),
    [
        ({"judgement": "A"}, 1.0, {"judge_incorrect": 0.0, "judge_partially_correct": 0.0}),
        ({"judgement": " b\n"}, 0.0, {"judge_incorrect": 1.0, "judge_partially_correct": 0.0}),
        ({"judgement": "D"}, 0.0, {}),
        ({"passed": True}, 1.0, {}),
        ({"status": "pass"}, 1.0, {}),
        ({"status": "timeout"}, 0.0, {}),
        ({"status": "who knows"}, None, {}),
        ({"deep-swe-metrics": {"resolved": False, "f2p": 0.5}}, 0.0, {"f2p": 0.5}),
        ({"eval_status": [{"process_status": "completed"}] * 2}, 1.0, {}),
        ({"eval_status": [{"process_status": "completed"}, {"process_status": "error"}]}, 0.0, {}),
    ],
)
def test_scores_of_newer_benchmarks(scored: Row, reward: float | None, others: Row) -> None:
    """Grades by letter, programs that passed, patches and parts of problems."""
    found = row_of({"question": "Q?", "generation": "A.", **scored}, 0, 0)
    assert found["reward"] == reward
    assert {one["name"]: one["score"] for one in found.get("scores", [])} == others


def test_the_whole_of_subsets(tmp_path: Path) -> None:
    """Figures of all rows have a name like those of a subset; each is what it is."""
    about = {"sums-_all_": {"pass@1": {"accuracy": 50.0}}, "sums-hard": {"pass@1": {"accuracy": 9}}}
    path = write(tmp_path, {"metrics.json": json.dumps(about)}) / "metrics.json"
    beside = (tmp_path / "sums" / "output.jsonl",)
    figures = nemo_skills.read(Artifact(path, path.name, Kind.AGGREGATE_METRICS, beside=beside))
    assert [(one.metric, one.means, one.reason) for one in figures if isinstance(one, Figure)] == [
        ("pass@1/accuracy", "pass@1/scores.accuracy", None),
        ("sums-hard/pass@1/accuracy", None, "of a subset of the rows"),
    ]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Three repeats of three sums beside a greedy answer, with a tie, a gap and damage."""
    ones = [
        row(0, "7", is_correct=True),
        row(1, "1", is_correct=False),
        row(2, None, is_correct=None),
    ]
    twos = [
        row(0, "8", is_correct=False),
        row(1, "7", is_correct=True),
        row(2, None, is_correct=None),
    ]
    judged = [
        row(5, "7", is_correct=True, judgement="Judgement: No"),
        row(6, "7", is_correct=False, judgement="Reasoning: same.\n**Judgement:** Yes"),
        row(7, "9", is_correct=False, judgement="I cannot say"),
    ]
    code = [{"generation": "def f(): ...", "is_correct": True, "is_correct-plus": False}]
    figures = {
        "num_entries": 3,
        "avg_tokens": 5,
        "symbolic_correct": 50.0,
        "symbolic_correct_statistics": {"avg": 0.5, "std_err_across_runs": 0.1},
        "no_answer": 100 / 3,
    }
    published = {
        "sums": {"pass@1[avg-of-2]": figures, "majority@2": {"symbolic_correct": 50.0}},
        "elsewhere": {"pass@1": {"symbolic_correct": 1.0}},
    }
    home = "big-run/eval-results"
    return analyzed(
        tmp_path_factory.mktemp("skills"),
        {
            f"{home}/sums/output-rs0.jsonl": lines(ones),
            f"{home}/sums/output-rs1.jsonl": lines(twos),
            f"{home}/sums/output.jsonl": lines(ones[:1]),
            f"{home}/judged/output.jsonl": lines(judged) + '{"problem": \n',
            f"{home}/code/output.jsonl": lines(code),
            f"{home}/code/output-rs1.jsonl-async": lines(code),
            f"{home}/metrics.json": json.dumps(published),
        },
        needs=NEEDS,
    )


def test_runs(found: Results) -> None:
    """A benchmark is a run, seeds are repeats, the greedy answer is a run of its own."""
    assert found.rows(
        "select run_id, benchmark, n_tasks, n_rollouts, n_scored from runs order by 1"
    ) == [
        ("big-run--code", "code", 1, 1, 1),
        ("big-run--judged", "judged", 3, 3, 3),
        ("big-run--sums", "sums", 3, 6, 4),
        ("big-run--sums-greedy", "sums", 1, 1, 1),
    ]
    assert found.rows(
        "select task_id, rollout_index, reward, answer, output_tokens, duration_s, final_text "
        "from rollouts where run_id = 'big-run--sums' order by 1, 2"
    ) == [
        ("0", 0, 1.0, "7", 5, 2.5, "It is 7."),
        ("0", 1, 0.0, "8", 5, 2.5, "It is 8."),
        ("1", 0, 0.0, "1", 5, 2.5, "It is 1."),
        ("1", 1, 1.0, "7", 5, 2.5, "It is 7."),
        ("2", 0, None, None, 5, 2.5, "It is None."),
        ("2", 1, None, None, 5, 2.5, "It is None."),
    ]


def test_scores(found: Results) -> None:
    """Every score is a check; the judge's is read from what it wrote."""
    assert found.rows(
        "select task_id, source, check_name, score from checks where run_id = 'big-run--judged' "
        "and task_id < '2' order by all"
    ) == [
        ("0", "score", "symbolic_correct", 1.0),
        ("0", "scores", "any_correct", 1.0),
        ("0", "scores", "both_correct", 0.0),
        ("0", "scores", "judge_correct", 0.0),
        ("1", "score", "symbolic_correct", 0.0),
        ("1", "scores", "any_correct", 1.0),
        ("1", "scores", "both_correct", 0.0),
        ("1", "scores", "judge_correct", 1.0),
    ]


def test_published(found: Results) -> None:
    """Figures of the rows are found again, a majority shares its ties; the others have a reason."""
    assert found.rows("select metric, round(ours, 6), status from reported_checks order by 1") == [
        ("elsewhere/pass@1/symbolic_correct", None, "not comparable"),
        ("majority@2/symbolic_correct", 50.0, "equal"),
        ("pass@1[avg-of-2]/avg_tokens", 5.0, "equal"),
        ("pass@1[avg-of-2]/no_answer", 33.333333, "equal"),
        ("pass@1[avg-of-2]/num_entries", 3.0, "equal"),
        ("pass@1[avg-of-2]/symbolic_correct", 50.0, "equal"),
        ("pass@1[avg-of-2]/symbolic_correct_statistics/avg", 0.5, "equal"),
        (
            "pass@1[avg-of-2]/symbolic_correct_statistics/std_err_across_runs",
            None,
            "not comparable",
        ),
    ]


def test_damage(found: Results) -> None:
    """A broken line is a reject, and so is a file that is not finished."""
    assert found.rows("select source_file, source_line from rejects order by 1") == [
        ("big-run/eval-results/code/output-rs1.jsonl-async", 1),
        ("big-run/eval-results/judged/output.jsonl", 4),
    ]


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
def test_corpus(tmp_path: Path) -> None:
    """The figures that the corpus is known by; every published one is equal or has its reason."""
    for file in CORPUS.rglob("*-test"):
        copy = tmp_path / "skills" / file.relative_to(CORPUS).with_name(file.name[: -len("-test")])
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    with only(*NEEDS):
        pipeline.analyze(tmp_path / "skills", out=tmp_path / "out")
    found = Results(tmp_path / "out")
    assert found.rows("select run_id, n_tasks, n_repeats from runs order by 1") == [
        ("skills--answer-judge", 12, 4),
        ("skills--human-eval", 4, 2),
        ("skills--ifeval", 3, 3),
        ("skills--math", 7, 3),
    ]
    assert found.rows(
        "select metric, round(ours, 2), status from reported_checks where run_id = 'skills--math' "
        "and metric in ('pass@1[avg-of-3]/symbolic_correct', 'pass@3/symbolic_correct', "
        "'majority@3/symbolic_correct') order by 1"
    ) == [
        ("majority@3/symbolic_correct", 76.19, "equal"),
        ("pass@1[avg-of-3]/symbolic_correct", 71.43, "equal"),
        ("pass@3/symbolic_correct", 85.71, "equal"),
    ]
    # Where judging is the task, the judgement is what the model said.
    assert found.rows(
        "select answer, reward, left(final_text, 13) from rollouts "
        "where run_id = 'skills--answer-judge' and task_id = '0' and rollout_index = 0"
    ) == [("no", 0.0, "Judgement: No")]
    assert found.rows("select status, count(*) from reported_checks group by all order by 1") == [
        ("equal", 87),
        ("not comparable", 555),
    ]
