"""verifiers up to 0.3: results.jsonl, a line per rollout, and the metadata.json beside it.

Samples of hosted training (Prime) have the same fields, but a `problem_id` for the example, and
JSON in strings for messages, metrics and times; other files beside them name model and environment.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ...artifact import Artifact, Kind
from . import (
    MOST_EXPECTED,
    Claim,
    Claims,
    Files,
    Object,
    Readings,
    Reject,
    Row,
    as_json,
    counted,
    definitions,
    document,
    documents,
    expected,
    fields,
    figure,
    get,
    gym_row,
    head,
    items,
    number,
    objects,
    picked,
    scores_of,
    settings,
    text,
    without_empty,
)
from .chat import chat, listed_messages
from .config import task_args

TITLE = "verifiers to 0.3"
FILES = (
    "`results.jsonl` with `metadata.json`; of hosted training also `run_manifest.json`, and "
    "`run_matrix.json` above"
)
GIVES = "checks transcript tokens durations"
SCORE = "`reward`, which passes from `pass_threshold` of the metadata on; `metrics` are checks"
NOTES = (
    "One run per folder, named after environment and model. An errored rollout has the reward 0 "
    "that verifiers gives it, and its error is a field of the outcome. Before 0.1.9 an example has "
    "an `id`; if several questions share one, tasks are distinguished by their questions, answers "
    "and the fields of `info` in which rows of one prompt differ by example. Samples of hosted "
    "training are a run per step; a number of tokens that is 0 was not recorded."
)
NAMES = re.compile(r"(^|/)(results\.jsonl(\.gz|\.zst)?|(metadata|run_manifest|run_matrix)\.json)$")
DOCUMENTS = ("metadata.json", "run_manifest.json")
FIRST_ROW_BYTES = 1 << 20
# A table of several runs, and the rows of a run once more.
MATRIX, AGAIN = "run_matrix.json", "rollouts_raw.json"
FIRST_OF_OLD = re.compile(rb'\s*\{\s*"id"\s*:\s*\d+\s*,\s*"prompt"\s*:')
OF_HOSTED = (b'"problem_id"', b'"sample_id"', b'"env_name"', b'"completion"')
# Metrics that are counts, not measures of correctness.
COUNTERS = re.compile(r"^num_|^total_|(^|_)(calls|count|turns|tokens|size|ms|seconds)$")
# Fields of older rows that are not metrics.
NOT_METRICS = frozenset(
    "id example_id prompt completion task answer info reward state generation_ms scoring_ms "
    "total_ms is_truncated is_completed error".split()
)
CAPS = frozenset({"max_turns_reached"})


# Where documents of hosted training have the metadata of a run.
OF_PLATFORM = {
    "model": ("base_model",),
    "env_id": ("environments", 0, "id"),
    "env_args": ("environments", 0, "args"),
}
OF_MANIFEST = {
    "model": ("model_id",),
    "env_id": ("environment_id",),
    "sampling_args": ("sampling_params",),
}


def claims(files: Files) -> Claims:
    about = {file.name: file for file in files if file.base.endswith(".json")}
    for file in files:
        begun = b"" if file.name in about else head(file.path, FIRST_ROW_BYTES)
        own = [about.get(f"{file.folder}/{base}".lstrip("/")) for base in DOCUMENTS]
        is_hosted = all(name in begun for name in OF_HOSTED)
        is_old = own[0] is not None and FIRST_OF_OLD.match(begun)
        if b'"example_id"' not in begun and not is_old and not is_hosted:
            continue
        # <environment>--<model>/<id of the run>/results.jsonl
        folder, stem, mark = file.folder.rpartition("/")[0], file.path.parent.name, ""
        if "--" in (above := file.path.parent.parent.name):
            folder, stem, mark = folder.rpartition("/")[0], above, stem
        beside = [one for one in (own if is_hosted else own[:1]) if one]
        above_it = file.folder.rpartition("/")[0]
        matrix = about.get(f"{above_it}/{MATRIX}".lstrip("/")) if is_hosted else None
        again = about.get(f"{file.folder}/{AGAIN}".lstrip("/")) if is_hosted else None
        paths = tuple(one.path for one in (*beside, matrix) if one)
        yield Claim(file, Kind.ROLLOUTS, folder, stem, mark=mark, beside=paths)
        for one in beside:
            yield Claim(one, Kind.AGGREGATE_METRICS, folder, stem, mark=mark)
        if matrix:
            yield Claim(matrix, Kind.OTHER, above_it, MATRIX)
        if again:
            yield Claim(again, Kind.OTHER, folder, stem, mark=mark)


def read(artifact: Artifact) -> Readings:
    if artifact.kind is not Kind.ROLLOUTS:
        yield from _about(_metadata([fields(document(artifact.path))], artifact.path.parent.name))
        return
    metadata = _metadata(documents(artifact.beside), artifact.path.parent.name)
    environment = text(metadata, "env_id") or text(metadata, "env")
    has_unique_ids, of_example = _identity(artifact.path)
    seen: Counter[str] = Counter()
    for place, line in enumerate(objects(artifact.path), start=1):
        if not isinstance(line, dict):
            yield line
            continue
        row = _unpacked(line)
        example = text(row.get("example_id", row.get("id")))
        if example is None or not {"reward", "completion"} & row.keys():
            yield Reject("no example_id, or neither reward nor completion")
            continue
        seen[example] += 1
        start = number(row, "timing", "start_time")
        order = f"{place:012}" if start is None else f"{start:020.6f}"
        value = _row(row, metadata) | ({"_ng_task_index": example} if has_unique_ids else {})
        step = text(row, "step")
        yield Row(
            value,
            variant=f"step-{step}" if step else None,
            benchmark=_short(row.get("env_name")) or environment,
            order=order,
            question=_question(row, of_example),
            limit_reached=ended if (ended := text(row, "stop_condition")) in CAPS else None,
        )
    yield from _expected(seen, metadata) if has_unique_ids else ()


def _metadata(beside: Iterable[Any], run_id: str) -> Object:
    """The metadata of a run; that of hosted training from all documents that name it.

    The document of the platform comes first, then the manifest, then the table of several runs.
    """
    metadata: Object = {}
    sampling: Object = {}
    for one in beside:
        values = fields(one)
        if own := fields(one, "run"):
            values = {name: get(own, *path) for name, path in OF_PLATFORM.items()}
            values["sampling_args"] = without_empty(picked(own, "max_tokens"))
        elif "model_id" in values:
            values = {name: get(one, *path) for name, path in OF_MANIFEST.items()}
        elif "matrix" in values:
            ids = ("prime_run_id", "run_id")
            listed = (run for run in items(one, "matrix") if run_id in picked(run, *ids).values())
            run = next(listed, None)
            values = {"model": get(run, "model"), "env_id": get(run, "environment")}
        if "model_id" in fields(one) or own:
            values["env_id"] = _short(values["env_id"])
        metadata = {**without_empty(values), **metadata}
        sampling = {**fields(values, "sampling_args"), **sampling}
    return {**metadata, "sampling_args": sampling}


def _short(name: Any) -> str | None:
    return (text(name) or "").rpartition("/")[2] or None


def _unpacked(row: Object) -> Object:
    """A row of hosted training as one of an evaluation; other rows as they are."""
    if "problem_id" not in row or "example_id" in row:
        return row
    completion = row.get("completion")
    counts = {name: row.get(f"num_{name}") or None for name in ("input_tokens", "output_tokens")}
    return {
        **row,
        "example_id": row["problem_id"],
        "prompt": listed_messages(row.get("prompt")) or row.get("prompt"),
        # A text that is an empty list is a completion without messages, not an answer.
        "completion": [] if completion == "[]" else listed_messages(completion) or completion,
        "token_usage": without_empty(counts),
    }


def _identity(path: Path) -> tuple[bool, list[str]]:
    """Whether an id has one example only, and the fields of `info` that tell examples apart.

    Some versions numbered rows by position, which shows where an `id` has several questions or
    answers; an `example_id` may be asked in several words, but has one answer. Of `info` those
    fields count in which rows with one prompt and answer differ, if all rows of an id agree, or,
    of rows numbered by position, if every value has as many rows: other fields are of the attempt.
    """
    rows: list[tuple[str | None, int, int, dict[str, int]]] = []
    is_numbered = True
    for row in objects(path):
        if isinstance(row, dict):
            is_numbered = is_numbered and not {"example_id", "problem_id"} & row.keys()
            row_id = text(row.get("example_id", row.get("problem_id", row.get("id"))))
            answer = hash(as_json(row.get("answer")))
            info = {name: hash(as_json(value)) for name, value in fields(row, "info").items()}
            rows.append((row_id, hash(as_json(row.get("prompt"))), answer, info))
    n_ids = len({row_id for row_id, *_ in rows})
    of_example = []
    for name in sorted({name for *_, info in rows for name in info}):
        counts = Counter((prompt, answer, info.get(name)) for _, prompt, answer, info in rows)
        differs = len({(prompt, answer) for prompt, answer, _ in counts}) < len(counts)
        is_of_id = len({(row_id, info.get(name)) for row_id, *_, info in rows}) == n_ids
        is_even = is_numbered and len(set(counts.values())) == 1 and len(counts) < len(rows)
        if differs and (is_of_id or is_even):
            of_example.append(name)
    first_examples: dict[str | None, tuple[Any, ...]] = {}
    for row_id, prompt, answer, info in rows:
        example = (answer, *((prompt, *map(info.get, of_example)) if is_numbered else ()))
        if first_examples.setdefault(row_id, example) != example:
            return False, of_example
    return True, of_example


def _question(row: Object, of_example: Sequence[str]) -> str | None:
    """What identifies the question where a prompt and its answer do not."""
    if not of_example:
        return None
    info = fields(row, "info")
    return as_json([row.get("prompt"), [info.get(name) for name in of_example]])


def _expected(seen: Counter[str], metadata: Object) -> Readings:
    """The expected repeats of the first examples, or of those seen.

    Some versions count repeats as examples; then the repeats are unknown.
    """
    n_examples, n_repeats = metadata.get("num_examples"), metadata.get("rollouts_per_example")
    if not isinstance(n_repeats, int) or n_repeats < max(seen.values(), default=1):
        return
    tasks = sorted(seen)
    if isinstance(n_examples, int) and 0 < n_examples <= MOST_EXPECTED:
        first = {str(place) for place in range(n_examples)}
        tasks = sorted(first) if first.issuperset(tasks) else tasks
    yield from expected(tasks, n_repeats)


def _about(metadata: Object) -> Readings:
    """Settings, and averages over all rollouts, errored ones among them."""
    sampling = fields(metadata, "sampling_args")
    n_examples, n_repeats = metadata.get("num_examples"), metadata.get("rollouts_per_example")
    yield from settings(
        model=metadata.get("model"),
        num_repeats=n_repeats,
        pass_threshold=metadata.get("pass_threshold"),
        **picked(sampling, "temperature", "top_p", "max_tokens"),
        **task_args(metadata.get("env_args")),
    )
    figures = [
        figure("avg_reward", metadata.get("avg_reward"), "mean/reward"),
        figure("avg_error", metadata.get("avg_error"), "mean/has_error"),
    ]
    for name, value in _averages(metadata).items():
        means = f"mean/{name}" if COUNTERS.search(name) else f"mean/scores.{name}"
        figures.append(figure(f"avg_metrics/{name}", value, means))
    for name, value in fields(metadata, "usage").items():
        figures.append(figure(f"usage/{name}", value, f"mean/{name}"))
    for name, mark in (("pass_at_k", "pass@"), ("pass_all_k", "pass^")):
        for k, value in fields(metadata, name).items():
            figures.append(figure(f"{name}/{k}", value, f"{mark}{k}/reward", scale=0.01))
    yield from (one for one in figures if one.value is not None)
    if isinstance(n_examples, int) and isinstance(n_repeats, int) and n_examples > 0:
        name = "num_examples x rollouts_per_example"
        yield counted(name, n_examples * n_repeats, "num_rollouts")


def _row(row: Object, metadata: Object) -> Object:
    metrics = fields(row, "metrics")
    if "metrics" not in row:
        names = row.keys() - NOT_METRICS
        metrics = {name: row[name] for name in sorted(names) if number(row[name]) is not None}
    reward = number(row, "reward")
    own = _own(metadata)
    scores = {**({} if own in metrics else {"reward": reward}), **metrics}
    counters: Object = {name: number(scores.pop(name)) for name in metrics if COUNTERS.search(name)}
    model = text(metadata, "model")
    sampling = fields(metadata, "sampling_args")
    completion = _completion(row)
    usage = {
        name: int(count)
        for name, value in fields(row, "token_usage").items()
        if (count := number(value)) is not None
    }
    ended = _ended(row)
    is_failed = (ended["error_type"] or "").startswith("Model")
    response = {
        "model": model,
        "usage": usage,
        "output": list(chat(completion)) if isinstance(completion, (str, list)) else None,
        "error": {"message": ended["error_message"]} if is_failed else None,
    }
    return gym_row(
        None,
        reward,
        request={
            "input": list(chat(row.get("prompt"), "user")),
            "model": model,
            "temperature": number(sampling, "temperature"),
            "max_output_tokens": sampling.get("max_tokens"),
            "tools": definitions(metadata.get("tools")),
        },
        response=response if any(one not in (None, {}) for one in response.values()) else None,
        **{
            **scores_of(scores, own if own in metrics else "reward"),
            **counters,
            # What a dataset calls the answer is the key.
            "expected_answer": row.get("answer"),
            "metadata": fields(row, "info"),
            **ended,
        },
    )


def _completion(row: Object) -> Any:
    """The completion, without the prompt if it begins with it."""
    completion, prompt = row.get("completion"), items(row, "prompt")
    begun, repeated = (
        [picked(one, "role", "content") for one in listed[: len(prompt)]]
        for listed in (items(completion), prompt)
    )
    is_repeated = begun and begun == repeated
    return completion[len(prompt) :] if is_repeated and isinstance(completion, list) else completion


def _own(metadata: Object) -> str | None:
    """The metric that is the reward: the one with the same average, since weights are unknown."""
    means, reward = _averages(metadata), number(metadata, "avg_reward")
    same = (name for name, value in means.items() if number(value) == reward is not None)
    return next(same, None)


def _averages(metadata: Object) -> Object:
    """Averages of metrics by name; older metadata has them at the top."""
    if isinstance(averages := metadata.get("avg_metrics"), dict):
        return averages
    names = [name for name in metadata if name.startswith("avg_") and name != "avg_error"]
    return {name.removeprefix("avg_"): metadata[name] for name in names if name != "avg_reward"}


def _ended(row: Object) -> Object:
    error, timing = row.get("error"), fields(row, "timing")
    seconds = number(timing, "total")
    if seconds is None and (milliseconds := number({**row, **timing}, "total_ms")) is not None:
        seconds = milliseconds / 1000
    kind = text(error, "error") or text(error)
    return {
        "finish_reason": "length" if row.get("is_truncated") is True else None,
        "stop_condition": text(row, "stop_condition"),
        "has_error": bool(error),
        "error_type": kind.partition("(")[0] if kind else None,
        "error_message": text(error, "error_chain_repr") or kind,
        "total_run_time": seconds,
    }
