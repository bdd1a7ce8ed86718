"""EvalScope: reviews with the scores of samples, their predictions, and a report of each dataset.

A dataset has a file of reviews and of predictions for each of its subsets; a run is one dataset.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...artifact import Artifact, Kind, ListedFile
from . import (
    LONGEST_LINE,
    Claim,
    Claims,
    Files,
    Object,
    Readings,
    Reject,
    Row,
    attempt,
    counted,
    document,
    fields,
    figure,
    get,
    head,
    items,
    message,
    number,
    objects,
    parsed,
    readable,
    text,
)
from .inspect_sample import turn_items

TITLE = "EvalScope"
FILES = "`reviews/<model>/<dataset>_<subset>.jsonl`, `predictions/...`, `reports/...` (from 1.0 on)"
GIVES = "checks transcript tokens durations"
SCORE = (
    "the value of `primary_metric_identity` of the report, else `main_score_name` of the row, else "
    "the first metric of the report, else the first value; the others are checks"
)
NOTES = (
    "One run per model and dataset, subsets are slices; without a report each subset is a run. "
    "Repeats by `generation_index`, else in the order of `sample_id`. Predictions that were not "
    "reviewed are not read."
)
NAMES = re.compile(r"(^|/)(reviews|predictions|reports)/[^/]+/[^/]+\.jsonl?$")
INDEX = re.compile(rb'\s*\{\s*"index"\s*:\s*(\d+)\s*,')
REPORT = re.compile(rb'\s*\{.*"dataset_name"\s*:.*"metrics"\s*:\s*\[', re.DOTALL)
# A score is a mean of categories, these of subsets, and each is rounded to four digits.
ROUNDING = 1.5e-4
# A longer one is the whole response.
LONGEST_ANSWER = 200


def claims(files: Files) -> Claims:
    models: dict[tuple[str, str], dict[str, dict[str, ListedFile]]] = defaultdict(
        lambda: {"reviews": {}, "predictions": {}, "reports": {}}
    )
    for file in files:
        *root, kind, model, base = file.name.split("/")
        if (REPORT if kind == "reports" else INDEX).match(head(file.path)):
            models["/".join(root), model][kind][base.rpartition(".")[0]] = file
    for (folder, model), kinds in models.items():
        reviewed = defaultdict(list)
        for name, file in kinds["reviews"].items():
            dataset = _dataset(name, kinds["reports"])
            reviewed[dataset].append(file.path)
            others = [kinds["reports"].get(dataset), kinds["predictions"].get(name)]
            beside = tuple(one.path for one in others if one)
            yield Claim(file, Kind.ROLLOUTS, folder, model, beside=beside)
        for name in sorted(kinds["predictions"].keys() & kinds["reviews"].keys()):
            yield Claim(kinds["predictions"][name], Kind.OTHER, folder, model)
        for dataset in sorted(kinds["reports"].keys() & reviewed.keys()):
            file, beside = kinds["reports"][dataset], tuple(reviewed[dataset])
            yield Claim(file, Kind.AGGREGATE_METRICS, folder, model, beside=beside)


def _dataset(reviews: str, reports: Iterable[str]) -> str:
    """The dataset whose report is here, else the name of the file."""
    return max((one for one in reports if reviews.startswith(f"{one}_")), key=len, default=reviews)


def read(artifact: Artifact) -> Readings:
    if artifact.kind is not Kind.ROLLOUTS:
        yield from _report(document(artifact.path))
        return
    reports = [path for path in artifact.beside if path.suffix == ".json"]
    report = readable(*reports)
    dataset = _dataset(artifact.path.stem, [path.stem for path in reports])
    # Of several rounds the rows say which one counts; the report lists the first one first.
    primary = _metric(get(report, "primary_metric_identity"))[0]
    first = _metric(get(report, "metrics", 0))[0]
    predictions = [path for path in artifact.beside if path not in reports]
    places = {index: place for path in predictions for index, place in _places(path)}
    for review in objects(artifact.path):
        if not isinstance(review, dict):
            yield review
        elif not isinstance(review.get("sample_score"), dict):
            yield Reject("no sample_score: not a review of EvalScope")
        else:
            place = places.get(text(review, "index"))
            prediction = {} if place is None else _prediction(predictions[0], place)
            value = _row(review, prediction, artifact.path, dataset, (primary, first))
            order = text(review["sample_score"], "sample_id") or ""
            yield Row(value, dataset, dataset, order=order.rjust(20))


def _places(path: Path) -> Iterator[tuple[str | None, int]]:
    """Where the prediction for each sample begins: reviews are in another order."""
    place = 0
    with path.open("rb") as file:
        while line := file.readline(LONGEST_LINE):
            if match := INDEX.match(line):
                yield match[1].decode(), place
            place += len(line)


def _prediction(path: Path, place: int) -> Object:
    with path.open("rb") as file:
        file.seek(place)
        try:
            return fields(parsed(file.readline(LONGEST_LINE)))
        except ValueError:
            return {}


def _row(
    review: Mapping[str, Any],
    prediction: Mapping[str, Any],
    path: Path,
    dataset: str,
    metrics: tuple[str | None, str | None],
) -> Object:
    """A row; `metrics` are the report's declared main one and its first one."""
    sample = fields(review, "sample_score")
    score = fields(sample, "score")
    values = {name: number(value) for name, value in fields(score, "value").items()}
    primary, first_listed = metrics
    named = (primary, text(score, "main_score_name"), first_listed, *values)
    task = text(sample, "group_id") or text(review, "index") or "?"
    subset = path.stem.removeprefix(dataset).removeprefix("_")
    turns = items(prediction, "messages") or items(review, "messages")
    roles = [get(one, "role") for one in turns]
    first = roles.index("assistant") if "assistant" in roles else len(turns)
    question = [item for one in turns[:first] for item in turn_items(one, {})]
    output = [item for one in turns[first:] for item in turn_items(one, {})]
    # Older reviews have the question as one text.
    written = (text(review, "input") or "").removeprefix("**User**: \n")
    answer = text(score, "prediction")
    response = get(prediction, "model_output")
    extracted = text(score, "extracted_prediction") or ""
    is_unanswered = not extracted and "extracted_prediction" in score
    row = attempt(
        task if subset in ("", "default") else f"{subset}/{task}",
        question or written,
        output or ([message(answer)] if answer else None),
        values,
        next((name for name in named if name in values), None),
        model=path.parent.name,
        tokens=[get(response, "usage", f"{side}_tokens") for side in ("input", "output")],
        repeat=sample.get("generation_index"),
        finish_reason=text(response, "choices", 0, "stop_reason"),
        total_run_time=number(response, "time"),
        target=text(review, "target"),
        extracted_answer=extracted if 0 < len(extracted) <= LONGEST_ANSWER else None,
        explanation=text(score, "explanation"),
        error_message=text(response, "error"),
        score_status=text(score, "status"),
        metadata={**fields(sample, "sample_metadata"), "subset": subset},
    )
    return {**row, "extracted_answer": None} if is_unanswered else row


def _metric(metric: Any) -> tuple[str | None, str]:
    """The name of the score and its aggregation: two fields, or one name such as `mean_acc`."""
    identity = fields(metric, "identity") or fields(metric)
    name = text(identity, "name") or ""
    if aggregation := text(identity, "aggregation"):
        return name, aggregation
    return name.removeprefix("mean_"), "mean" if name.startswith("mean_") else ""


def _report(report: Any) -> Readings:
    dataset = text(report, "dataset_name")
    metrics = items(report, "metrics")
    main = _metric(get(report, "primary_metric_identity") or get(metrics, 0))
    for metric in metrics:
        name, aggregation = _metric(metric)
        shown = f"{aggregation}_{name}".strip("_")
        means = f"mean/scores.{name}" if aggregation == "mean" else None
        reason = None if means else f"defined otherwise: {shown}"
        yield figure(
            shown,
            get(metric, "score"),
            means,
            variant=dataset,
            reason=reason,
            rounding=ROUNDING,
            is_main=(name, aggregation) == main,
        )
    yield counted("num", get(metrics, 0, "num"), "num_rollouts", dataset)
