"""Every Eval Ever: <uuid>.json with results, and <uuid>_samples.jsonl with an instance per line.

An instance is of one result, so a run is one result of the pair. There is no field for repeats: the
nth instance of a sample is its nth attempt. `blade export` writes the same files.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from ...artifact import Artifact, Kind, ListedFile
from . import (
    Claims,
    Files,
    Object,
    Readings,
    Reject,
    Row,
    call,
    claims_of,
    counted,
    document,
    documents,
    fields,
    figure,
    get,
    gym_row,
    head,
    items,
    message,
    number,
    objects,
    paths_of,
    picked,
    readable,
    result,
    scores_of,
    settings,
    text,
    without_empty,
)

TITLE = "Every Eval Ever"
FILES = "`<uuid>.json`, `<uuid>_samples.jsonl` (schema 0.2 and 0.3)"
GIVES = "checks transcript tokens durations"
SCORE = (
    "`evaluation.score` where its metric goes from 0 to 1 or no range is given, else, and where "
    "lower is better, `evaluation.is_correct`; both are checks"
)
NOTES = (
    "One run per result that has instances. Repeats: the nth instance of a `sample_id`. Results "
    "without instances are read only where others have some."
)
NAMES = re.compile(r"\.json$|_samples\.jsonl(\.gz|\.zst)?$", re.IGNORECASE)
ENDING = re.compile(r"(_samples\.jsonl(\.gz|\.zst)?|\.json)$", re.IGNORECASE)
OF_RESULTS = (b'"schema_version"', b'"evaluation_id"', b'"evaluation_results"')
OF_SAMPLES = (b'"schema_version"', b'"sample_id"', b'"interaction_type"')
MODEL = re.compile(rb'"model_id"\s*:\s*"([^"\\]+)"')
COUNTS = ("input_tokens", "output_tokens", "total_tokens", "reasoning_tokens")
PASS_RATE = re.compile(r"pass[_@]?(?:at_)?(\d+)$")


def claims(files: Files) -> Claims:
    pairs = defaultdict(list)
    for file in files:
        wanted = OF_RESULTS if file.base.lower().endswith(".json") else OF_SAMPLES
        begun = head(file.path)
        if all(name in begun for name in wanted):
            pairs[file.folder, ENDING.sub("", file.base)].append(file)
    for (folder, name), both in pairs.items():
        results = [file for file in both if file.base.lower().endswith(".json")]
        if samples := [file for file in both if file not in results]:
            yield from claims_of(samples, results, folder, _name(results, samples) or name, name)


def _name(results: list[ListedFile], samples: list[ListedFile]) -> str | None:
    """The name of the run if blade wrote the file, else that of the model."""
    names = []
    for source in documents(paths_of(results)):
        own = text(source, "source_metadata", "additional_details", "run_id")
        names += [own, *(text(source, "model_info", key) for key in ("name", "id"))]
    instances = (MODEL.search(head(file.path)) for file in samples)
    names += [source[1].decode("utf-8", "replace") for source in instances if source]
    return next((name.rstrip("/").rpartition("/")[2] for name in names if name), None)


def read(artifact: Artifact) -> Readings:
    if artifact.kind is not Kind.ROLLOUTS:
        yield from _results(artifact)
        return
    results = readable(*artifact.beside)
    by_id = {key: one for one in items(results, "evaluation_results") for key in _keys(one)}
    seen: Counter[tuple[str, str]] = Counter()
    for row in objects(artifact.path):
        if not isinstance(row, dict):
            yield row
            continue
        task, variant = text(row, "sample_id"), _variant(row)
        if task is None or variant is None or not isinstance(row.get("evaluation"), dict):
            yield Reject("no sample_id, evaluation_name or evaluation")
            continue
        of: Any = next((by_id[key] for key in _keys(row) if key in by_id), {})
        value = _row(row, task, seen[variant, task], of)
        seen[variant, task] += 1
        benchmark = text(of, "source_data", "dataset_name") or text(row, "evaluation_name")
        yield Row(value, variant=variant, benchmark=benchmark)


def _keys(row: Any) -> list[str]:
    names = (get(row, "evaluation_result_id"), get(row, "evaluation_name"))
    return [name for name in names if isinstance(name, str)]


def _variant(row: Any) -> str | None:
    return next(iter(_keys(row)), None)


def _metric(of: Any) -> str:
    config = get(of, "metric_config")
    named = text(config, "metric_id") or text(config, "metric_name")
    return named or "score"


def _row(row: Object, task: str, repeat: int, of: Any) -> Object:
    is_correct = get(row, "evaluation", "is_correct")
    verdict = number(is_correct) if isinstance(is_correct, bool) else None
    named = ((_metric(of), number(row, "evaluation", "score")), ("is_correct", verdict))
    known: list[Object] = [{"name": name, "score": one} for name, one in named if one is not None]
    chosen = _metric(of) if _is_share(get(of, "metric_config")) else "is_correct"
    reference = [one for one in items(row, "input", "reference") if isinstance(one, str)]
    question = text(row, "input", "raw")
    details = fields(row, "performance", "additional_details")
    counts = {**details, **without_empty(fields(row, "token_usage"))}
    answers = [
        text(one, "extracted_value")
        for one in items(row, "answer_attribution")
        if get(one, "is_terminal") is not False and "extracted_value" in fields(one)
    ]
    taken = (number(row, "performance", f"{name}_ms") for name in ("latency", "generation_time"))
    milliseconds = next((one for one in taken if one is not None), None)
    value = gym_row(
        task,
        next((one["score"] for one in known if one["name"] == chosen), None),
        repeat=repeat,
        request={"input": [message(question, "user")] if question else None},
        response={
            "model": text(row, "model_id"),
            "usage": without_empty({name: _count(counts.get(name)) for name in COUNTS}),
            "output": _output(row, question),
        },
        total_run_time=None if milliseconds is None else milliseconds / 1000,
        reference=reference[0] if len(reference) == 1 else reference,
        extracted_answer=next(reversed(answers), None),
        error_message=text(row, "error"),
        metadata=fields(row, "metadata"),
        interaction_type=text(row, "interaction_type"),
        **scores_of(known, chosen),
    )
    return {**value, "extracted_answer": None} if answers and answers[-1] is None else value


def _count(value: Any) -> int | None:
    """A count; counts among other details are texts."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 16:
        return int(value)
    return value if isinstance(value, int) else None


def _is_share(config: Any) -> bool:
    low, high = number(config, "min_score"), number(config, "max_score")
    in_range = (low, high) in ((0.0, 1.0), (None, None), (0.0, None), (None, 1.0))
    return in_range and get(config, "lower_is_better") is not True


def _output(row: Object, question: str | None) -> list[Object] | None:
    """The answers of a single turn, or the messages after the question; null if not recorded."""
    messages = row.get("messages")
    if isinstance(messages, list):
        roles = [get(one, "role") for one in messages]
        first = next((n for n, role in enumerate(roles) if role != "system"), len(messages))
        first_turn = picked(get(messages, first), "role", "content")
        is_question = first_turn == {"role": "user", "content": question}
        return [item for one in messages[first + is_question :] for item in _items(one)]
    answers = [one for one in items(row, "output", "raw") if isinstance(one, str)]
    thoughts = [_thought(one) for one in items(row, "output", "reasoning_trace")]
    return [one for one in thoughts if one] + [message(one) for one in answers] or None


def _thought(content: Any) -> Object | None:
    content = "\n\n".join(one for one in items(content) if isinstance(one, str)) or content
    if not isinstance(content, str) or not content:
        return None
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": content}]}


def _items(turn: Any) -> Iterator[Object]:
    role, content = text(turn, "role") or "assistant", get(turn, "content")
    if role == "tool":
        yield result(text(content) or "", get(turn, "tool_call_id", 0))
        return
    if thought := _thought(get(turn, "reasoning_trace")):
        yield thought
    calls = items(turn, "tool_calls")
    if isinstance(content, str) and (content or (not calls and role == "assistant")):
        yield message(content, role)
    for one in calls:
        yield call(get(one, "name"), fields(one, "arguments"), get(one, "id"))


def _results(artifact: Artifact) -> Readings:
    published = document(artifact.path)
    rows = Counter(
        variant
        for path in artifact.beside
        for row in objects(path)
        if isinstance(row, dict) and (variant := _variant(row))
    )
    home = min(rows, default=None)
    yield from settings(model=get(published, "model_info", "id"))
    is_copied = get(published, "source_metadata", "source_type") == "documentation"
    for of in items(published, "evaluation_results"):
        variant = next((key for key in _keys(of) if key in rows), None)
        score = get(of, "score_details", "score")
        if home is None or isinstance(score, (dict, list, str)):
            continue
        reason = "taken from a document, not computed from these rows" if is_copied else None
        metric, means, scale = _metric(of), None, 1.0
        if rate := PASS_RATE.fullmatch(metric):
            means, scale = f"pass@{rate[1]}/reward", 0.01
            passing = number(of, "metric_config", "metric_parameters", "pass_threshold")
            if passing not in (None, 1.0):
                reason = reason or f"defined otherwise: a score of {passing:g} passes"
        elif variant:
            means = f"mean/scores.{metric}"
        else:
            reason = "no instances of this result are here"
        # A result without instances belongs to the only run.
        named = f"{_variant(of) or 'result'}/{metric}"
        one = variant or home
        yield figure(named, score, means, variant=one, scale=scale, reason=reason)
    total = number(published, "detailed_evaluation_results", "total_rows")
    if total is not None and len(rows) == 1:
        yield counted("total_rows", total, "num_rollouts", home)
