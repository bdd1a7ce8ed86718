"""Berkeley Function Calling Leaderboard: files of results and of scores, one per category.

A file of scores has its figures in the first line, and below them only the attempts that failed:
an attempt of the results that is not among them passed. Questions are recorded with failures alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...artifact import Artifact, Kind, ListedFile
from . import (
    Claim,
    Figure,
    Line,
    Reading,
    Reject,
    Row,
    call,
    counted,
    figure,
    get,
    head,
    items,
    message,
    number,
    objects,
    result,
    text,
    total,
    without_empty,
)

TITLE = "BFCL"
FILES = (
    "`result/<model>/[<group>/]BFCL_v<n>_<category>_result.json`, `score/...` with `_score.json`; "
    "those of version 1 as well"
)
SCORE = (
    "1, or 0 if the score file lists the attempt as a failure; none without a score file, or if it "
    "counts other attempts than the results have"
)
NOTES = (
    "One run per model and category. A score file alone has failures alone: passes are then known "
    "as a number, and the published accuracy is of rows that are not here. `possible_answer` and "
    "the error are recorded of failures alone."
)
NAMES = re.compile(r"_(result|score)\.json$")
PARTS = re.compile(
    r"(?:BFCL_v\d+_|gorilla_openfunctions_v\d+_test_)?(?P<category>.+)_(?P<kind>result|score)\.json"
)
FIRST_OF_RESULTS = re.compile(rb'\s*\{\s*"idx?"\s*:\s*("[^"]*"|\d+)\s*,\s*"result"\s*:')
FIRST_OF_SCORES = re.compile(rb'\s*\{\s*"accuracy"\s*:\s*[\d.eE+-]+\s*,\s*"correct_count"\s*:')
ROOT = re.compile(r"(result|score)(?=$|[-_])")


def claims(files: Sequence[ListedFile]) -> Iterable[Claim]:
    """Results with the scores of the same model and category; scores alone where there are none."""
    pairs: dict[tuple[str, str], dict[str, ListedFile]] = defaultdict(dict)
    for file in files:
        match = PARTS.fullmatch(file.base)
        first = FIRST_OF_RESULTS if match and match["kind"] == "result" else FIRST_OF_SCORES
        if match and first.match(head(file.path)):
            folders = "/".join(ROOT.sub("*", part) for part in file.folder.split("/"))
            pairs[folders, match["category"]][match["kind"]] = file
    for both in pairs.values():
        rows = both.get("result") or both["score"]
        folder, model = _model(rows.name)
        others = [file for file in both.values() if file is not rows]
        yield Claim(rows, Kind.ROLLOUTS, folder, model, beside=tuple(one.path for one in others))
        for file in others:
            yield Claim(file, Kind.AGGREGATE_METRICS, folder, model, beside=(rows.path,))


def _model(name: str) -> tuple[str, str]:
    """The folder that contains the models, and the model, whose folder may have groups in it."""
    parts = name.split("/")[:-1] or ["bfcl"]
    roots = [place for place, part in enumerate(parts[:-1]) if ROOT.match(part)]
    place = roots[-1] + 1 if roots else len(parts) - 1
    return "/".join(parts[:place]), parts[place]


def _category(path: Path) -> str:
    match = PARTS.fullmatch(path.name)
    return match["category"] if match else path.name


def read(artifact: Artifact) -> Iterator[Reading]:
    """Attempts by the results, else failures by the scores; figures of the scores."""
    category = _category(artifact.path)
    if artifact.kind is not Kind.ROLLOUTS:
        yield from _figures(_header(artifact.path), category)
    elif artifact.path.name.endswith("_score.json"):
        yield from _failures_alone(artifact, category)
    else:
        yield from _attempts(artifact, category)


def _header(scores: Path) -> dict[str, Any]:
    first = next(iter(objects(scores)), None)
    return first if isinstance(first, dict) and "accuracy" in first else {}


def _figures(
    header: Mapping[str, Any], category: str, missing: str | None = None
) -> Iterator[Figure]:
    accuracy = header.get("accuracy")
    yield figure("accuracy", accuracy, "mean/reward", variant=category, reason=missing)
    yield counted("total_count", header.get("total_count"), "num_tasks", category)


def _failures_alone(artifact: Artifact, category: str) -> Iterator[Reading]:
    scores, model = artifact.path, _model(artifact.name)[1]
    header = _header(scores)
    n_passed = number(header.get("correct_count"))
    missing = (
        None if n_passed is None else f"failures alone have rows, {n_passed:g} passes have none"
    )
    yield from _figures(header, category, missing)
    for place, entry in enumerate(objects(scores)):
        if not isinstance(entry, dict):
            yield entry
        elif place == 0 and header:
            yield Line()
        elif (task := _failed(entry)) is None or entry.get("valid") is not False:
            yield Reject("not an attempt that failed: no id, or valid is not false")
        else:
            answer = entry.get("model_result_raw", entry.get("model_result"))
            log = entry.get("inference_log")
            row = {"id": task, "result": answer, "inference_log": log}
            yield _row(row, model, category, entry, 0.0)


def _failed(failure: Mapping[str, Any], ids: Sequence[str | None] = ()) -> str | None:
    """The id of the attempt that failed; in version 1 a number, its place counted from 1."""
    own = failure.get("id")
    if isinstance(own, int):
        listed = ids[own - 1] if 0 < own <= len(ids) else None
        return text(get(failure, "prompt", "id")) or listed or str(own - 1)
    return text(own)


def _attempts(artifact: Artifact, category: str) -> Iterator[Reading]:
    ids = [_id(row) for row in objects(artifact.path) if not isinstance(row, Line)]
    failures: dict[str, Any] = {}
    header: dict[str, Any] = {}
    for scores in artifact.beside:
        header = _header(scores)
        for entry in objects(scores):
            if isinstance(entry, dict) and entry.get("valid") is False:
                failure = {name: entry.get(name) for name in ("error", "error_type")}
                failure["possible_answer"] = entry.get("possible_answer")
                failure["prompt"] = {"question": get(entry, "prompt", "question")}
                failures[_failed(entry, ids) or ""] = failure
    counts = [number(header.get(name)) for name in ("total_count", "correct_count")]
    # Otherwise one that is no failure may not have been scored.
    is_scored = counts == [len(ids), len(ids) - len(failures)] and failures.keys() <= set(ids)
    model = _model(artifact.name)[1]
    for row in objects(artifact.path):
        task = _id(row)
        if not isinstance(row, dict):
            yield row
        elif task is None or "result" not in row:
            yield Reject("no id or no result: not an attempt of BFCL")
        else:
            reward = 0.0 if task in failures else 1.0 if is_scored else None
            yield _row(row, model, category, failures.get(task, {}), reward)


def _id(row: Any) -> str | None:
    return text(get(row, "id")) or text(get(row, "idx"))


def _row(
    row: Mapping[str, Any],
    model: str,
    category: str,
    failure: Mapping[str, Any],
    reward: float | None,
) -> Row:
    task = _id(row)
    first_query, output = _turns(row)
    turns = items(get(failure, "prompt", "question"))
    first = turns[0] if turns and isinstance(turns[0], list) else turns
    question = get(failure, "prompt", "question")
    first_query = (
        first_query
        or [*_messages(first)]
        or ([message(question, "user")] if text(question) else [])
    )
    tokens = {
        f"{side}_tokens": _sum(row.get(f"{side}_token_count")) for side in ("input", "output")
    }
    response = {
        "object": "response",
        "model": model,
        # Of an answer without calls the words may be left out: it is not recorded.
        "output": output,
        # No tokens at all were not counted.
        "usage": {name: n for name, n in tokens.items() if n},
    }
    value = {
        "_ng_task_index": task,
        "_ng_rollout_index": 0,
        "responses_create_params": {"input": first_query} if first_query else None,
        "response": without_empty(response),
        "total_run_time": _sum(row.get("latency")),
        "error": get(failure, "error", "error_message") or failure.get("error"),
        "error_type": get(failure, "error", "error_type") or failure.get("error_type"),
        "possible_answer": failure.get("possible_answer"),
    }
    return Row(
        {**without_empty(value), "reward": reward},
        variant=category,
        benchmark=category,
        # What is asked is recorded of failures alone.
        question=f"{category} {task}",
    )


def _turns(row: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The first question and what followed, by the log of several turns, else the answers alone."""
    first_query: list[dict[str, Any]] = []
    output: list[dict[str, Any]] = []
    for turn in items(row.get("inference_log")):
        query = [*_messages(items(get(turn, "begin_of_turn_query")))]
        if first_query:
            output += query
        else:
            first_query = query
        for name, step in turn.items() if isinstance(turn, dict) else ():
            waiting: list[str] = []
            for one in items(step) if name.startswith("step_") else ():
                match get(one, "role"):
                    case "assistant":
                        answered = [*_answer_items(get(one, "content"), f"{len(output)}")]
                        waiting += [item["call_id"] for item in answered if "call_id" in item]
                        output += answered
                    case "tool":
                        content = text(get(one, "content")) or ""
                        output.append(result(content, waiting.pop(0) if waiting else None))
    return first_query, output or [*_answer_items(row.get("result"), "0")]


def _messages(listed: Iterable[Any]) -> Iterator[dict[str, Any]]:
    for one in listed:
        if words := text(get(one, "content")):
            yield message(words, text(get(one, "role")) or "user")


def _answer_items(answer: Any, place: str) -> Iterator[dict[str, Any]]:
    """Text, or calls as `{name: arguments}`; of several turns and steps lists of these."""
    if isinstance(answer, str) and answer:
        yield message(answer)
    elif isinstance(answer, dict):
        for nth, (name, arguments) in enumerate(answer.items()):
            yield call(name, arguments, f"call-{place}-{nth}")
    elif isinstance(answer, list):
        for nth, one in enumerate(answer):
            yield from _answer_items(one, f"{place}-{nth}")


def _sum(counts: Any) -> float | None:
    """The sum of a number of each step, in lists by turn."""
    if isinstance(counts, list):
        return total(_sum(one) for one in counts)
    return number(counts)
