"""Every Eval Ever: instances are read as attempts, and what is exported is read back the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fastjsonschema
import pytest

import pipeline
from pipeline.artifact import Artifact, Kind
from pipeline.ingest import formats
from pipeline.ingest.formats import every_eval_ever
from tests.case_files import filled
from tests.conftest import ROOT
from tests.fact_files import facts_of
from tests.lean import CHECKED, only
from tests.results import Results, Row, blade, lines, rollout, write

CORPUS = ROOT.parent / "shared" / "formats_corpus" / "every_eval_ever" / "public"
NEEDS = (*CHECKED, "checks")
NAME = "f3a1c0de-4b2e-4c1a-9f6d-1b7e5a2c8d40"


def instance(sample: str, score: float, **more: Any) -> Row:
    """A line of samples."""
    inputs = {"sample": sample, "score": score, "is_correct": score >= 0.5}
    return {**filled("formats", "every_eval_ever_instance", **inputs), **more}


def of_metric(name: str, metric: str, score: float, **config: Any) -> Row:
    """A result of the aggregate."""
    return {
        "evaluation_name": name,
        "source_data": {"dataset_name": name},
        "metric_config": {"metric_id": metric, "lower_is_better": False, **config},
        "score_details": {"score": score},
    }


def files() -> dict[str, Any]:
    """Two results with instances, repeats among them, one without, and a broken line."""
    call = {"id": "c", "name": "add", "arguments": {"a": "3"}}
    talk = [
        {"turn_idx": 0, "role": "user", "content": "b?"},
        {"turn_idx": 1, "role": "assistant", "content": None, "tool_calls": [call]},
        {"turn_idx": 2, "role": "tool", "content": "7", "tool_call_id": ["c"]},
        {"turn_idx": 3, "role": "assistant", "content": "Seven."},
    ]
    rows = [
        instance("a", 1.0),
        instance("a", 0.5, error="it broke"),
        instance("b", 0.0, interaction_type="agentic", messages=talk, output=None),
        instance("a", 80.0, evaluation_name="points"),
        {"schema_version": "0.3.0", "sample_id": "c"},
    ]
    results = {
        "schema_version": "0.3.0",
        "evaluation_id": "e",
        "source_metadata": {"source_type": "evaluation_run"},
        "model_info": {"name": "tiny", "id": "org/tiny"},
        "evaluation_results": [
            of_metric("sums", "accuracy", 0.5, min_score=0, max_score=1),
            of_metric("points", "elo", 80.0, min_score=0, max_score=100),
            of_metric("other", "accuracy", 0.1),
        ],
    }
    return {
        f"data/s/org/tiny/{NAME}_samples.jsonl": lines(rows) + "{\n",
        f"data/s/org/tiny/{NAME}.json": json.dumps(results),
    }


test_samples = facts_of(files(), "every_eval_ever")


def test_instances_without_results(tmp_path: Path) -> None:
    """A run is named after its model where nothing else names it; thoughts may be several."""
    message = [{"role": "assistant", "content": "a", "reasoning_trace": ["hm", "well"]}]
    path = write(tmp_path, {"None_samples.jsonl": [instance("s1", 1.0, messages=message)]})
    file = formats.ListedFile(path / "None_samples.jsonl", "None_samples.jsonl")
    (claim,) = every_eval_ever.claims([file])
    assert claim.stem == "tiny"
    (row,) = every_eval_ever.read(Artifact(file.path, file.name, Kind.ROLLOUTS))
    assert isinstance(row, formats.Row)
    assert row.value["response"]["output"][0]["summary"][0]["text"] == "hm\n\nwell"


METRICS = (
    "from run_metrics select run_id, benchmark, model, n_tasks, n_scored, pass_at_1, pass_at_k, "
    "pass_hat_k, mean_reward, consistency, tokens_per_rollout order by run_id"
)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of a results folder, with tools and without, one attempt unscored."""
    folder = tmp_path_factory.mktemp("export")
    call = {"type": "function_call", "name": "add", "arguments": '{"a": [1]}', "call_id": "c"}
    result = {"type": "function_call_output", "call_id": "c", "output": "7"}
    usage = {"usage": {"input_tokens": 3, "output_tokens": 4}}
    answer = {"type": "message", "role": "assistant", "content": "done"}
    by_name = {"output": [call, result, answer], **usage}
    ones = [
        rollout(task, index, reward=float(task > index), model="org/one", expected_answer="7")
        for task in range(3)
        for index in range(2)
    ]
    twos = [
        rollout(task, index, reward=0.25 * task, model="two")
        | {"response": {"model": "two", **by_name}}
        for task in range(3)
        for index in range(2)
    ]
    twos[1]["reward"] = None
    for row in ones:
        row["response"]["usage"] = {"output_tokens": 5}
    write(folder / "results", {"sums_one_rollouts.jsonl": ones, "sums_two_rollouts.jsonl": twos})
    with only(*NEEDS, "run_metrics", "task_prompts", "tasks"):
        pipeline.analyze(folder / "results", out=folder / "out")
    arguments = ("export", "--format", "every_eval_ever", "--out", folder / "shared")
    ended = blade(*arguments, "--warehouse", folder / "out")
    assert ended.code == 0 and "sums_two: 1 attempts without a score are left out" in ended.stderr
    return folder


@pytest.mark.slow
def test_what_is_exported_is_read_back(exported: Path) -> None:
    """The same run metrics, and every figure that was written is found again."""
    with only(*NEEDS):
        pipeline.analyze(exported / "shared", out=exported / "again")
    again = Results(exported / "again")
    assert again.rows(METRICS) == Results(exported / "out").rows(METRICS)
    assert again.column("select distinct status from reported_checks") == ["equal"]
    assert again.rows("select kind, count(*) from events group by all order by 1") == [
        ("message", 11),
        ("tool_call", 5),
        ("tool_result", 5),
    ]


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
def test_what_is_exported_is_valid(exported: Path) -> None:
    """Both files of every run fit the published schemas, and the reference pair does."""
    names = ("eval.schema.json", "instance_level_eval.schema.json")
    schemas = [json.loads((CORPUS / name).read_text("utf-8")) for name in names]
    document, sample = map(fastjsonschema.compile, schemas)
    n_samples = 0
    for folder in (CORPUS / "data", exported / "shared"):
        for path in sorted(folder.rglob("*.json")):
            document(json.loads(path.read_text("utf-8")))
        for path in sorted(folder.rglob("*_samples.jsonl")):
            for line in path.read_text("utf-8").splitlines():
                sample(json.loads(line))
                n_samples += 1
    assert n_samples == 12
