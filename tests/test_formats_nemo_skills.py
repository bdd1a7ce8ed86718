"""NeMo-Skills: a run per benchmark, a repeat per seed, and the figures of metrics.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.artifact import Artifact, Kind
from pipeline.ingest.formats import Figure, nemo_skills
from tests.fact_files import facts_of
from tests.results import Row, lines, write


def row(task: int, answer: str | None, *, is_correct: bool | None, **more: Any) -> Row:
    """A line of an output: the question of a task, and its answer."""
    by_name = {"problem": f"Q{task}?", "expected_answer": "7", "generation": f"It is {answer}."}
    scored = {} if is_correct is None else {"symbolic_correct": is_correct}
    took = {"generation_start_time": 10.0, "generation_end_time": 12.5, "num_generated_tokens": 5}
    return {**by_name, "predicted_answer": answer, **scored, **took, "level": "hard", **more}


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
    actual = nemo_skills.row_of({"question": "Q?", "generation": "A.", **scored}, 0, 0)
    assert actual["reward"] == reward
    assert {one["name"]: one["score"] for one in actual.get("scores", [])} == others


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


def files() -> dict[str, Any]:
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
    return {
        f"{home}/sums/output-rs0.jsonl": lines(ones),
        f"{home}/sums/output-rs1.jsonl": lines(twos),
        f"{home}/sums/output.jsonl": lines(ones[:1]),
        f"{home}/judged/output.jsonl": lines(judged) + '{"problem": \n',
        f"{home}/code/output.jsonl": lines(code),
        f"{home}/code/output-rs1.jsonl-async": lines(code),
        f"{home}/metrics.json": json.dumps(published),
    }


test_outputs = facts_of(files(), "nemo_skills")
