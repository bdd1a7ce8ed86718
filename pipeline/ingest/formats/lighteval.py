"""lighteval: details in Parquet, one file per task, and the results of the same time.

A row is one document. Where metrics need other numbers of samples, a document has a row for each of
these, which has no value of the other metrics: such rows are a run of their own.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from ...artifact import Artifact, Kind, ListedFile
from . import (
    Claims,
    Files,
    Object,
    Readings,
    Reject,
    Row,
    attempt,
    claims_of,
    document,
    documents,
    fields,
    figure,
    get,
    head,
    items,
    message,
    number,
    paths_of,
    picked,
    readable,
    settings,
    text,
)
from .lm_eval import TIME
from .table_rows import parquet_rows

TITLE = "lighteval"
FILES = "`details_<task>_<time>.parquet` of older and newer columns, `results_<time>.json`"
GIVES = "checks transcript tokens"
SCORE = "the first metric of the task that is better the higher it is; the others are checks"
NOTES = (
    "One run per task, and one for rows without its first metric. Samples of one row have one "
    "score: they are one attempt."
)
NAMES = re.compile(rf"(^|/)(details_.+|results)_{TIME}\.(parquet|json)$")
PARTS = re.compile(rf"(?:details_(?P<task>.+)|results)_(?P<time>{TIME})\.(?:parquet|json)")
MARKS = re.compile(r"[|:]|__")


def claims(files: Files) -> Claims:
    evaluations: dict[str, list[ListedFile]] = defaultdict(list)
    for file in files:
        match = PARTS.fullmatch(file.base)
        first = b"PAR1" if match and match["task"] else b'"config_general"'
        if match and first in head(file.path, 200):
            evaluations[match["time"]].append(file)
    for time, both in evaluations.items():
        details = [file for file in both if file.base.endswith(".parquet")]
        results = [file for file in both if file not in details]
        if details:
            model = next(filter(None, map(_model, documents(paths_of(results)))), "")
            folder, _, stem = details[0].folder.removesuffix(f"/{time}").rpartition("/")
            stem = model.rstrip("/").rpartition("/")[2] or stem or "lighteval"
            yield from claims_of(details, results, folder, stem, time)


def _model(results: Any) -> str | None:
    config = get(results, "config_general")
    return text(config, "model_name") or text(config, "model_config", "model_name")


def _task(name: str, results: Any) -> str:
    """The task of a file, whose name may have other marks than the results."""
    match = PARTS.fullmatch(name)
    own = (match and match["task"]) or name
    listed = fields(results, "results")
    return next((one for one in listed if MARKS.sub(":", one) == MARKS.sub(":", own)), own)


def _metrics(results: Any, task: str) -> dict[str, bool]:
    """The metrics of a task in their order, and whether they are better the higher they are."""
    configs = fields(results, "config_tasks")
    config = configs.get(task) or configs.get(task.rpartition("|")[0])
    declared = items(config, "metric") or items(config, "metrics")
    published = fields(results, "results", task)
    return {
        **{
            name: get(one, "higher_is_better") is not False
            for one in declared
            if (name := text(one, "metric_name"))
        },
        **{name: True for name in published if not declared and not name.endswith("_stderr")},
    }


def read(artifact: Artifact) -> Readings:
    if artifact.kind is not Kind.ROLLOUTS:
        yield from _results(artifact)
        return
    results = readable(*artifact.beside)
    task = _task(artifact.path.name, results)
    parts = task.split("|")
    benchmark = parts[1] if len(parts) > 2 else parts[0]
    metrics = _metrics(results, task)
    seen: Counter[str] = Counter()
    for detail in parquet_rows(artifact.path):
        if not isinstance(detail, dict) or not {"doc", "example", "full_prompt"} & detail.keys():
            yield Reject("no doc and no example: not a detail of lighteval")
            continue
        values = fields(detail, "metric") or fields(detail, "metrics")
        known = {name: one for name in values if (one := number(values[name])) is not None}
        better = [name for name in (*metrics, *known) if metrics.get(name, True)]
        main = next((name for name in better if name in known), None)
        variant = task if main in (None, better[0]) else f"{task}-{main}"
        own = text(detail, "doc", "id") or str(seen[variant])
        seen[variant] += 1
        value = _row(detail, own, known, main, _model(results))
        yield Row(value, variant, benchmark)


def _row(
    detail: Mapping[str, Any],
    task: str,
    scores: Mapping[str, float],
    main: str | None,
    model: str | None,
) -> Object:
    doc, answer = fields(detail, "doc"), fields(detail, "model_response")
    questions = (answer.get("input"), detail.get("full_prompt"), doc.get("query"))
    texts = answer.get("text") or detail.get("predictions")
    texts = [one for one in items(texts) if isinstance(one, str)]
    shown = [f"[sample {n}] {one}" for n, one in enumerate(texts)] if len(texts) > 1 else texts
    thoughts = [one for one in items(answer, "reasonings") if text(one)]
    places = doc.get("gold_index")
    places = places if isinstance(places, list) else [places]
    choices = [get(doc, "choices", one) for one in places if isinstance(one, int)]
    keys = items(detail, "gold") or choices
    processed = get(detail, "specifics", "extracted_predictions")
    extracted = {text(one) for one in items(processed or answer.get("text_post_processed"))}
    is_unanswered = processed == [] or extracted == {None}
    row = attempt(
        task,
        next(filter(None, map(text, questions)), None),
        # Likelihoods of choices are no answer.
        [
            *({"type": "reasoning", "content": one} for one in thoughts),
            *map(message, shown),
        ]
        or None,
        scores,
        main,
        model=model,
        tokens=[
            _n_tokens(answer.get("input_tokens") or detail.get("input_tokens")),
            _n_tokens(answer.get("output_tokens") or detail.get("cont_tokens")),
        ],
        repeat=0,
        target=keys[0] if len(keys) == 1 else keys,
        extracted_answer=extracted.pop() if len(extracted) == 1 else None,
        metadata=fields(doc, "specific"),
    )
    return {**row, "extracted_answer": None} if is_unanswered else row


def _n_tokens(tokens: Any) -> int:
    return sum(map(_n_tokens, tokens)) if isinstance(tokens, list) else int(tokens is not None)


def _results(artifact: Artifact) -> Readings:
    results = document(artifact.path)
    config = get(results, "config_general")
    parameters = "generation_parameters"
    sampling = get(config, parameters) or get(config, "model_config", parameters)
    yield from settings(picked(sampling, "temperature", "top_p"))
    yield from settings(max_tokens=get(sampling, "max_new_tokens"), model=_model(results))
    for path in artifact.beside:
        task = _task(path.name, results)
        main = next(
            (name for name, is_better in _metrics(results, task).items() if is_better), None
        )
        for key, value in fields(results, "results", task).items():
            name = key.removesuffix("_stderr")
            means = f"{'mean' if name == key else 'stderr'}/scores.{name}"
            yield figure(key, value, means, variant=task, is_main=key == main)
            # Of rows without the main metric.
            yield figure(key, value, means, variant=f"{task}-{name}", is_main=key == name)
