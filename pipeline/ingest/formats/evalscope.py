"""EvalScope: reviews with the scores of samples, their predictions, and a report of each dataset.

A dataset has a file of reviews and of predictions for each of its subsets; a run is one dataset.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...artifact import Artifact, Kind, ListedFile
from . import (
    LONGEST_LINE,
    Claim,
    Reading,
    Reject,
    Row,
    counted,
    document,
    documents,
    fields,
    figure,
    get,
    head,
    items,
    message,
    number,
    objects,
    parsed,
    scores_of,
    text,
    without_empty,
)
from .inspect_sample import turn_items

TITLE = "EvalScope"
FILES = (
    "`reviews/<model>/<dataset>_<subset>.jsonl` with `predictions/` and `reports/<model>/"
    "<dataset>.json` beside (1.0 and later)"
)
SCORE = (
    "the value of the first metric of the report, else `main_score_name`, else the first value; "
    "the others are checks"
)
NOTES = (
    "One run per model and dataset, subsets are slices. Tasks: subset and `group_id`; repeats by "
    "`generation_index`, else in the order of `sample_id`. Without a report each subset is a run. "
    "Predictions that were not reviewed are not read."
)
NAMES = re.compile(r"(^|/)(reviews|predictions|reports)/[^/]+/[^/]+\.jsonl?$")
FIRST = {
    "reviews": re.compile(rb'\s*\{\s*"index"\s*:.*"sample_score"\s*:', re.DOTALL),
    "predictions": re.compile(rb'\s*\{\s*"index"\s*:.*"model_output"\s*:', re.DOTALL),
    "reports": re.compile(rb'\s*\{.*"dataset_name"\s*:.*"metrics"\s*:\s*\[', re.DOTALL),
}
INDEX = re.compile(rb'\s*\{\s*"index"\s*:\s*(\d+)\s*,')
# A score is a mean of categories, these of subsets, and each is rounded to four digits.
ROUNDING = 1.5e-4
# A longer one is the whole response.
LONGEST_ANSWER = 200


def claims(files: Sequence[ListedFile]) -> Iterable[Claim]:
    """Reviews with the predictions of the same name, and the reports of their model."""
    folders: dict[tuple[str, str], dict[str, list[ListedFile]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for file in files:
        above, _, model = file.folder.rpartition("/")
        root, _, kind = above.rpartition("/")
        begun = head(file.path)
        # A long review shows what it is only after its messages.
        if FIRST[kind].match(begun) or (kind == "reviews" and INDEX.match(begun)):
            folders[root, model][kind].append(file)
    for (root, model), kinds in folders.items():
        reports = {file.base.removesuffix(".json"): file for file in kinds["reports"]}
        predictions = {file.base: file for file in kinds["predictions"]}
        reviewed = defaultdict(list)
        for file in kinds["reviews"]:
            dataset = _dataset(file.path, reports)
            reviewed[dataset].append(file.path)
            beside = [reports.get(dataset), predictions.get(file.base)]
            paths = tuple(one.path for one in beside if one)
            yield Claim(file, Kind.ROLLOUTS, root, model, beside=paths)
            if answers := predictions.get(file.base):
                yield Claim(answers, Kind.OTHER, root, model)
        for dataset, file in reports.items():
            if dataset in reviewed:
                beside_it = tuple(reviewed[dataset])
                yield Claim(file, Kind.AGGREGATE_METRICS, root, model, beside=beside_it)


def _dataset(reviews: Path, reports: Iterable[str]) -> str:
    """The dataset whose report is here, else the name of the file."""
    named = [name for name in reports if reviews.stem.startswith(f"{name}_")]
    return max(named, key=len, default=reviews.stem)


def read(artifact: Artifact) -> Iterator[Reading]:
    """Reviews as attempts, figures of reports."""
    if artifact.kind is Kind.ROLLOUTS:
        yield from _reviews(artifact)
    else:
        yield from _report(document(artifact.path))


def _reviews(artifact: Artifact) -> Iterator[Reading]:
    report_path = next((path for path in artifact.beside if path.suffix == ".json"), None)
    answers_path = next((path for path in artifact.beside if path.suffix == ".jsonl"), None)
    report = next(documents([report_path] if report_path else []), None)
    dataset = _dataset(artifact.path, [report_path.stem] if report_path else [])
    subset = artifact.path.stem.removeprefix(dataset).removeprefix("_")
    primary = _metric(get(report, "primary_metric_identity") or get(report, "metrics", 0))[0]
    model = artifact.path.parent.name
    with Predictions(answers_path) as predictions:
        for review in objects(artifact.path):
            if not isinstance(review, dict):
                yield review
            elif not isinstance(review.get("sample_score"), dict):
                yield Reject("no sample_score: not a review of EvalScope")
            else:
                answer = predictions.get(review.get("index"))
                yield _row(review, answer, dataset, subset, primary, model)


class Predictions:
    """The predictions of a file by the index of the sample, of which one is in memory."""

    def __init__(self, path: Path | None) -> None:
        self.file = path.open("rb") if path else None
        self.places: dict[int, int] = {}

    def __enter__(self) -> Predictions:
        place = 0
        while line := self.file.readline(LONGEST_LINE) if self.file else b"":
            if match := INDEX.match(line):
                self.places[int(match[1])] = place
            place += len(line)
        return self

    def __exit__(self, *_: object) -> None:
        if self.file:
            self.file.close()

    def get(self, index: Any) -> dict[str, Any]:
        """The prediction for a sample; empty if there is none that can be read."""
        if self.file is None or not isinstance(index, int) or index not in self.places:
            return {}
        self.file.seek(self.places[index])
        try:
            return fields(parsed(self.file.readline(LONGEST_LINE)))
        except ValueError:
            return {}


def _row(
    review: Mapping[str, Any],
    answer: Mapping[str, Any],
    dataset: str,
    subset: str,
    primary: str | None,
    model: str,
) -> Row:
    sample = fields(review.get("sample_score"))
    score = fields(sample.get("score"))
    values = {name: number(value) for name, value in fields(score.get("value")).items()}
    named = [primary, text(score.get("main_score_name")), *values]
    own = next((name for name in named if name in values), None)
    first_id = text(sample.get("group_id")) or text(review.get("index")) or "?"
    question, output = _messages(review, answer, score)
    usage = fields(get(answer, "model_output", "usage"))
    counts = {name: usage.get(f"{name}_tokens") for name in ("input", "output", "reasoning")}
    scores = [{"name": name, "score": value} for name, value in values.items()]
    for one in scores:
        if one["name"] == own:
            one["explanation"] = text(score.get("explanation"))
    extracted = text(score.get("extracted_prediction")) or ""
    stop_reason = text(get(answer, "model_output", "choices", 0, "stop_reason"))
    value = {
        "_ng_task_index": f"{subset}/{first_id}" if subset not in ("", "default") else first_id,
        "_ng_rollout_index": sample.get("generation_index"),
        "responses_create_params": {"input": question} if question else None,
        "response": {
            "object": "response",
            "model": model,
            "usage": {f"{name}_tokens": n for name, n in counts.items() if isinstance(n, int)},
            **({"output": output} if output else {}),
        },
        "finish_reason": stop_reason,
        "total_run_time": number(get(answer, "model_output", "time")),
        "target": text(review.get("target")),
        "extracted_answer": extracted if len(extracted) <= LONGEST_ANSWER else None,
        **scores_of(scores, own),
        "error_message": text(get(answer, "model_output", "error")),
        "score_status": text(score.get("status")),
        "metadata": {
            **fields(sample.get("sample_metadata")),
            **({"subset": subset} if subset else {}),
        },
    }
    order = text(sample.get("sample_id")) or ""
    return Row(
        {**without_empty(value), "reward": values.get(own) if own else None},
        variant=dataset,
        benchmark=dataset,
        order=order.rjust(20),
    )


def _messages(
    review: Mapping[str, Any], answer: Mapping[str, Any], score: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What was asked, and what followed; older reviews have the question as one text."""
    turns = items(answer.get("messages")) or items(review.get("messages"))
    first = next(
        (place for place, one in enumerate(turns) if get(one, "role") == "assistant"), len(turns)
    )
    question = [item for one in turns[:first] for item in turn_items(one, {})]
    output = [item for one in turns[first:] for item in turn_items(one, {})]
    if not question and (written := text(review.get("input"))):
        question = [message(written.removeprefix("**User**: \n"), "user")]
    if not output and (prediction := text(score.get("prediction"))):
        output = [message(prediction)]
    return question, output


def _metric(metric: Any) -> tuple[str | None, str]:
    """The name of the score and its aggregation: two fields, or one name such as `mean_acc`."""
    identity = fields(get(metric, "identity")) or fields(metric)
    if aggregation := text(identity.get("aggregation")):
        return text(identity.get("name")), aggregation
    name = text(identity.get("name")) or ""
    return (name.removeprefix("mean_"), "mean") if name.startswith("mean_") else (name or None, "")


def _report(report: Any) -> Iterator[Reading]:
    dataset = text(get(report, "dataset_name"))
    for place, metric in enumerate(items(get(report, "metrics"))):
        name, aggregation = _metric(metric)
        shown = f"{aggregation}_{name}" if aggregation else f"{name}"
        means = f"mean/scores.{name}" if aggregation == "mean" else None
        reason = None if means else f"defined otherwise: {shown}"
        value = get(metric, "score")
        yield figure(shown, value, means, variant=dataset, reason=reason, rounding=ROUNDING)
        if place == 0:
            yield counted("num", get(metric, "num"), "num_rollouts", dataset)
