"""lighteval: details of the older and the newer columns, and their results."""

from __future__ import annotations

import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.fact_files import facts_of
from tests.results import Content, Row

OLD, NEW = "2025-05-13T16-20-44.021299", "2025-11-05T14-43-47.148527"


def parquet(rows: list[Row]) -> bytes:
    """Rows as a Parquet file."""
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return sink.getvalue()


def old(number: int, answers: list[str], **metrics: float | None) -> Row:
    """A detail in columns of its own."""
    return {
        "example": f"sum {number}",
        "instruction": "",
        "full_prompt": f"Add.\nsum {number}",
        "predictions": answers,
        "gold": ["7"],
        "metrics": metrics,
        "specifics": {"extracted_predictions": ["7"] * len(answers)},
        "input_tokens": [[1, 2, 3]],
        "cont_tokens": [[[4, 5]] * len(answers)],
        "choices": [],
    }


def new(number: int, answers: list[str], **metrics: float) -> Row:
    """A detail of three structures; a choice has likelihoods and no text."""
    response = {
        "input": f"Choose.\npick {number}",
        "text": answers,
        "reasonings": ["hm"] if answers else [],
        "logprobs": [-1.0, -2.0],
        "input_tokens": [1, 2],
        "output_tokens": [[3]],
    }
    doc = {
        "id": f"{number}",
        "query": f"pick {number}",
        "choices": ["cat", "dog"],
        "gold_index": 1,
        "specific": {"level": "hard"},
    }
    return {"doc": doc, "model_response": response, "metric": metrics}


def results(task: str, figures: dict[str, float], **more: Any) -> str:
    """The results of one task."""
    config = {"model_name": "org/m", "generation_parameters": {"temperature": 0.6}}
    all_tasks = {task: figures, "all": figures}
    return json.dumps({"config_general": config, "results": all_tasks, **more}, indent=2)


# Of one answer and of four: a document has a row for each.
METRICS = [
    {"metric_name": "errors", "higher_is_better": False},
    {"metric_name": "match", "higher_is_better": True},
    {"metric_name": "pass@1:4_samples", "higher_is_better": True},
]
FILES: dict[str, Content] = {
    f"out/details/org/m/{OLD}/details_lighteval|sums|0_{OLD}.parquet": parquet(
        [
            old(0, ["it is 7"], match=1.0, errors=0.25, **{"pass@1:4_samples": None}),
            old(1, ["it is 8"], match=0.0, errors=0.75, **{"pass@1:4_samples": None}),
            old(0, ["7", "8", "7", "7"], match=None, **{"pass@1:4_samples": 0.75}),
            old(1, ["8", "8", "8", "8"], match=None, **{"pass@1:4_samples": 0.0}),
        ]
    ),
    f"out/results/org/m/results_{OLD}.json": results(
        "lighteval|sums|0",
        {"match": 0.5, "match_stderr": 0.5, "pass@1:4_samples": 0.375},
        config_tasks={"lighteval|sums": {"metric": METRICS}},
    ),
    f"out/details/org/m/{NEW}/details_pets:easy|5_{NEW}.parquet": parquet(
        [new(4, [], acc=1.0, norm=0.0), new(5, ["dog"], acc=0.0, norm=1.0)]
    ),
    f"out/results/org/m/results_{NEW}.json": results("pets:easy:5", {"norm": 0.5, "acc": 0.25}),
    # Results of another evaluation, and a file that is no Parquet.
    "out/results/org/m/results_2024-01-01T00-00-00.000000.json": results("pets|5", {"acc": 1.0}),
    f"out/details_notes_{NEW}.parquet": b"version https://git-lfs.github.com/spec/v1\n",
}


# Two evaluations of one model.
test_details = facts_of(FILES, "lighteval")
