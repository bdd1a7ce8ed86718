"""EvalScope: reviews of subsets, their predictions, and the figures of reports."""

from __future__ import annotations

import json
from typing import Any

from tests.fact_files import facts_of
from tests.results import Content, Row, lines

THOUGHT = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "it is 7"}]


def review(
    index: int, sample: int | None = None, *, value: Any, about: str = "sums", **more: Any
) -> Row:
    """A line of reviews as of 1.0, which has the question as one text."""
    score = {"value": value, "extracted_prediction": "7", "prediction": f"answer {index}"}
    scored = {
        "score": {**score, "main_score_name": None, **more},
        "sample_id": index if sample is None else sample,
        "group_id": index,
        "sample_metadata": {"level": "hard"},
    }
    question = f"**User**: \n{about} {index}"
    return {"index": index, "input": question, "target": "7", "sample_score": scored}


def prediction(index: int, messages: list[Row]) -> Row:
    """A line of predictions."""
    usage = {"input_tokens": 9, "output_tokens": 4, "reasoning_tokens": None}
    output = {"choices": [{"stop_reason": "stop"}], "usage": usage, "time": 1.5}
    return {"index": index, "model": "org/m", "model_output": output, "messages": messages}


def metric(name: str, score: float, n_samples: int, **more: Any) -> Row:
    """A metric of a report."""
    return {"name": name, "num": n_samples, "score": score, "categories": [], **more}


def report(dataset: str, *metrics: Row, **more: Any) -> str:
    """A report of a dataset."""
    about = {"name": f"m@{dataset}", "dataset_name": dataset, "model_name": "m"}
    return json.dumps({**about, "metrics": metrics, **more}, indent=2)


CALLED = [
    {"role": "user", "content": "weigh 0"},
    {
        "role": "assistant",
        "content": THOUGHT,
        "tool_calls": [{"id": "c", "function": {"name": "scale", "arguments": '{"x": 0}'}}],
    },
    {"role": "tool", "content": "7 kg", "tool_call_id": "c"},
    {"role": "assistant", "content": "7"},
]
FILES: dict[str, Content] = {
    "out/1/reviews/m/sums_easy.jsonl": [
        review(0, value={"acc": 1.0, "style": 0.25}, explanation="as asked"),
        review(1, value={"acc": 0.0, "style": 0.75}),
    ],
    "out/1/reviews/m/sums_hard one.jsonl": lines(
        [review(0, value={"style": 1.0, "acc": True}), review(1, value={})]
    )
    + '\n{"index": 2, "target": ""}\n{"index": 3',
    "out/1/predictions/m/sums_easy.jsonl": [
        prediction(1, [{"role": "assistant", "content": "it is 8"}]),
        prediction(0, CALLED),
    ],
    "out/1/reports/m/sums.json": report(
        "sums", metric("mean_acc", 0.6667, 3), metric("mean_style", 0.6667, 3), score=0.6667
    ),
    # Two attempts at a question; the report names its metrics in two fields.
    "out/2/reviews/m/twice_default.jsonl": [
        review(4, 9, value={"f1": 0.5, "acc": 1.0}, main_score_name="acc", about="twice"),
        review(4, 8, value={"f1": 0.5, "acc": 0.0}, main_score_name="acc", about="twice"),
    ],
    "out/2/reports/m/twice.json": report(
        "twice",
        metric("", 0.5, 2, identity={"name": "acc", "aggregation": "mean"}),
        metric("", 1.0, 2, identity={"name": "acc", "aggregation": "pass_at_k"}),
        primary_metric_identity={"name": "acc", "aggregation": "mean", "dimensions": {}},
    ),
    # No report, and a folder of another tool.
    "out/3/reviews/m/alone_main.jsonl": [review(0, value={"acc": 0.5}, about="alone")],
    "shop/reviews/june/stars.jsonl": [{"index": "a", "stars": 5}],
}


# Two subsets, repeats, and a dataset without a report.
test_reviews = facts_of(FILES, "evalscope")
