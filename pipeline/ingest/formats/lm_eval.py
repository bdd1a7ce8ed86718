"""lm-evaluation-harness: samples_<task>_<time>.jsonl, and the results_<time>.json beside them.

A row is one document under one filter, so a run is one task under one filter. The metric is of the
filtered response: repeats of a document inside a row cannot be scored apart, and stay in the row.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pipeline.artifact import Artifact, Found, Kind
from pipeline.ingest.formats import (
    Claim,
    Expected,
    Figure,
    Line,
    Reading,
    Reject,
    Row,
    Setting,
    document,
    fields,
    get,
    head,
    items,
    message,
    number,
    objects,
    scores_of,
    text,
    told,
)

TITLE = "lm-evaluation-harness"
FILES = "`samples_<task>_<time>.jsonl` (written with `--log_samples`), `results_<time>.json`"
SCORE = (
    "the first metric of the task that is a number in the row (`metric_list` of the results, else "
    "`metrics` of the row); the others are checks"
)
NOTES = (
    "One run per task and filter. Of several repeats a filter makes one answer: they are one "
    "attempt. No tokens, times or errors are recorded."
)
TIME = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:[.-]\d+)?"
NAMES = re.compile(rf"(^|/)(results|samples_[^/]+)_{TIME}\.jsonl?(\.gz|\.zst)?$")
PARTS = re.compile(rf"^(?:results|samples_(?P<task>.+))_(?P<time>{TIME})\.jsonl?")

# Names of metrics that say how right an answer is, the most usual first.
USUAL = "exact_match acc acc_norm pass@1 f1 em bleu rouge1 brier_score".split()
NOT_METRICS = frozenset({"name", "alias", "sample_len", "sample_count"})
# What the harness's regular expressions give where they find nothing.
INVALID = "[invalid]"
LIKELIHOODS = frozenset({"multiple_choice", "loglikelihood", "loglikelihood_rolling"})


def claims(files: Sequence[Found]) -> Iterable[Claim]:
    """Samples and results of one time are the files of one evaluation."""
    together = defaultdict(list)
    for file in files:
        match = PARTS.match(file.base)
        if match and _is_ours(file, is_samples=bool(match["task"])):
            together[file.folder, match["time"]].append(file)
    for (folder, time), found in together.items():
        results = [file for file in found if file.base.startswith("results_")]
        samples = [file for file in found if file not in results]
        stem = _model(results) or folder.rpartition("/")[2] or "lm_eval"
        for file in found if samples else ():
            of_rows = file in samples
            beside = [other.path for other in (results if of_rows else samples)]
            kind = Kind.ROLLOUTS if of_rows else Kind.AGGREGATE_METRICS
            yield Claim(file, kind, folder, stem, mark=time, beside=tuple(beside))


def _is_ours(file: Found, *, is_samples: bool) -> bool:
    begun = head(file.path)
    wanted = (b'"doc_id"', b'"filtered_resps"') if is_samples else (b'"results"', b'"configs"')
    # A first document may be longer than what was looked at.
    return wanted[0] in begun and (wanted[1] in begun or len(begun) >= 4096 or not is_samples)


def _model(results: list[Found]) -> str | None:
    """The model's name without its organization; none where there are no results to say it."""
    for file in results:
        try:
            found = document(file.path)
        except ValueError:
            continue
        name = text(get(found, "model_name")) or text(get(found, "model_name_sanitized"))
        if name:
            return re.split(r"/|__", name.strip("/"))[-1]
    return None


def read(artifact: Artifact) -> Iterator[Reading]:
    """Rows of samples; figures, settings and what was expected of results."""
    if artifact.kind is Kind.ROLLOUTS:
        yield from _samples(artifact)
    else:
        yield from _results(artifact)


def _task(path: Path) -> str:
    match = PARTS.match(path.name)
    return (match["task"] if match else None) or path.name


def _variant(task: str, of_filter: str) -> str:
    return task if of_filter == "none" else f"{task}-{of_filter}"


def _samples(artifact: Artifact) -> Iterator[Reading]:
    task = _task(artifact.path)
    results = _beside(artifact)
    config = fields(get(results, "configs", task))
    model = text(get(results, "model_name"))
    declared = [text(get(entry, "metric")) for entry in items(config.get("metric_list"))]
    for found in objects(artifact.path):
        if isinstance(found, (Reject, Line)):
            yield found
            continue
        position, row = found
        if "doc_id" not in row or not {"filter", "metrics"} & row.keys():
            yield Reject("no doc_id or no filter: not a sample of lm-eval", position=position)
            continue
        of_filter = text(row.get("filter")) or "none"
        value = _row(row, declared, config, model)
        yield Row(value, position, variant=_variant(task, of_filter), benchmark=task)


def _beside(artifact: Artifact) -> Any:
    for path in artifact.beside:
        try:
            return document(path)
        except ValueError:
            continue  # its own reject says so
    return None


def _row(
    row: dict[str, Any], declared: list[str | None], config: dict[str, Any], model: str | None
) -> dict[str, Any]:
    scores = _scores(row, declared)
    first = get(row, "arguments", "gen_args_0")
    kwargs = get(first, "arg_1")
    asked = get(first, "arg_0")
    is_choice = text(config.get("output_type")) in LIKELIHOODS or isinstance(kwargs, str)
    answer = None if is_choice else _answer(row.get("filtered_resps"))
    request = told(
        {
            "input": [message(_words(asked), "user")],
            "model": model,
            "temperature": number(get(kwargs, "temperature")),
            "max_output_tokens": get(kwargs, "max_gen_toks"),
        }
    )
    return told(
        {
            "_ng_task_index": row.get("doc_id"),
            "_ng_rollout_index": 0,
            "reward": scores[0]["score"] if scores else None,
            "responses_create_params": request,
            "response": _response(row, model, answer, is_choice=is_choice),
            "target": row.get("target"),
            **scores_of(scores, scores[0]["name"] if scores else None),
            "choice_likelihoods": _likelihoods(row) if is_choice else None,
            "metadata": row.get("doc"),
            "doc_hash": row.get("doc_hash"),
            "prompt_hash": row.get("prompt_hash"),
        }
    ) | ({} if is_choice else {"extracted_answer": None if answer == INVALID else answer})


def _scores(row: dict[str, Any], declared: list[str | None]) -> list[dict[str, Any]]:
    """Every metric of the row that is one number or none, the one that is the reward first."""
    names = [name for name in items(row.get("metrics")) if isinstance(name, str)]
    order = [*declared, *USUAL, *names]
    ranked = sorted(dict.fromkeys(names), key=order.index)
    single = [name for name in ranked if not isinstance(row.get(name), (list, dict))]
    return [{"name": name, "score": number(row.get(name))} for name in single]


def _words(value: Any) -> str:
    """A prompt is a text; of a chat template, a list of messages as JSON, or that list."""
    if isinstance(value, str):
        return value
    said = [text(get(part, "content")) for part in items(value)]
    return "\n\n".join(part for part in said if part)


def _response(
    row: dict[str, Any], model: str | None, answer: str | None, *, is_choice: bool
) -> dict[str, Any]:
    """What was generated; nothing is where only likelihoods were asked for.

    Of several repeats none was scored alone: those that gave the filter's answer come last.
    """
    response: dict[str, Any] = {"object": "response"} | ({"model": model} if model else {})
    if is_choice:
        return response
    said = [one for one in items(get(row, "resps", 0)) if isinstance(one, str)]
    shown = [f"[repeat {n}] {one}" for n, one in enumerate(said)] if len(said) > 1 else said
    shown.sort(key=lambda one: answer is not None and answer in one)
    return {**response, "output": [message(one) for one in shown]} if said else response


def _answer(filtered: Any) -> str | None:
    first = get(filtered, 0)
    return first if isinstance(first, str) and len(first) <= 200 else None


def _likelihoods(row: dict[str, Any]) -> list[float | None] | None:
    """The log probability of each choice, in order."""
    return [number(get(one, 0)) for one in items(row.get("filtered_resps"))] or None


def _results(artifact: Artifact) -> Iterator[Reading]:
    found = document(artifact.path)
    sampled = [_task(path) for path in artifact.beside]
    for name in ("model_name", "max_tokens", "temperature"):
        value = text(get(found, name)) or text(get(found, "config", "gen_kwargs", name))
        if value:
            yield Setting(name, value)
    limit = text(get(found, "config", "limit"))
    if limit:
        yield Setting("limit", limit)
    variants = {
        task: sorted({_variant(task, key.partition(",")[2]) for key in fields(held) if "," in key})
        for task, held in fields(get(found, "results")).items()
    }
    home = next((name for task in sampled for name in variants.get(task, ())), None)
    for task in variants:
        yield from _figures(found, task, fields(get(found, "results", task)), sampled, home)
        for variant in variants[task] if task in sampled else ():
            yield from _expected(get(found, "n-samples", task, "effective"), variant)


def _expected(n_documents: Any, variant: str) -> Iterator[Reading]:
    if isinstance(n_documents, int) and 0 < n_documents <= 1_000_000:
        for place in range(n_documents):
            yield Expected(str(place), 0, variant)


def _figures(
    found: Any, task: str, figures: dict[str, Any], sampled: list[str], home: str | None
) -> Iterator[Figure]:
    """`<metric>,<filter>` of a task; of one without samples they are named with it, in `home`."""
    aggregations = {
        text(get(entry, "metric")): text(get(entry, "aggregation"))
        for entry in items(get(found, "configs", task, "metric_list"))
    }
    for key, value in figures.items():
        metric, comma, of_filter = key.partition(",")
        if not comma or metric in NOT_METRICS or isinstance(value, (dict, list)):
            continue
        field = metric.removesuffix("_stderr")
        statistic = "mean" if field == metric else "stderr"
        aggregation = aggregations.get(field) or "mean"
        means = reason = None
        if task not in sampled:
            reason = "no samples of this task were logged"
        elif aggregation == "mean":
            means = f"{statistic}/scores.{field}"
        else:
            reason = f"defined otherwise: an aggregate ({aggregation}) of all rows"
        variant = _variant(task, of_filter) if task in sampled else home
        name = key if task in sampled else f"{task}/{key}"
        yield Figure(None, None, None, name, number(value), variant, means, 1.0, reason)
