"""Berkeley Function Calling Leaderboard: files of results and of scores, one per category.

A file of scores has its figures in the first line, and below them only the attempts that failed:
an attempt of the results that is not among them passed. Questions are recorded with failures alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...artifact import Artifact, Kind, ListedFile
from . import (
    Claims,
    Files,
    Line,
    Object,
    Readings,
    Reject,
    Row,
    as_json,
    attempt,
    call,
    claims_of,
    counted,
    fields,
    figure,
    get,
    head,
    items,
    message,
    number,
    objects,
    picked,
    result,
    text,
    total,
)

TITLE = "BFCL"
FILES = (
    "`result/<model>/.../BFCL_v<n>_<category>_result.json`, `score/...` with `_score.json`; in "
    "2024 `gorilla_openfunctions_v1_test_<category>_result.json` and `<category>_score.json`"
)
GIVES = "transcript tokens durations"
SCORE = (
    "1, or 0 if the score file lists the attempt as a failure; none without a score file, or if it "
    "counts other attempts than the results have"
)
NOTES = (
    "One run per model and category. A score file alone has failures alone: passes are then known "
    "as a number. Questions, errors and `possible_answer` are recorded of failures alone."
)
NAMES = re.compile(r"_(result|score)\.json$")
PARTS = re.compile(
    r"(BFCL_v\d+_|gorilla_openfunctions_v\d+_test_)?(?P<category>.+)_(?P<kind>result|score)\.json"
)
FIRST_LINES = {
    "result": re.compile(rb'\s*\{\s*"id"\s*:\s*"[^"]*"\s*,\s*"result"\s*:'),
    "score": re.compile(rb'\s*\{\s*"accuracy"\s*:.*"correct_count"\s*:'),
}
ROOT = re.compile(r"(result|score)(?=$|[-_])")
# What the harness writes in place of a result, and what its scores say of it.
BROKEN = "Error during inference"


def claims(files: Files) -> Claims:
    """Results with the scores of the same model and category; scores alone where there are none."""
    pairs: dict[tuple[str, str], dict[str, ListedFile]] = defaultdict(dict)
    for file in files:
        match = PARTS.fullmatch(file.base)
        if match and FIRST_LINES[match["kind"]].match(head(file.path)):
            folder = "/".join(ROOT.sub("*", part) for part in file.folder.split("/"))
            pairs[folder, match["category"]][match["kind"]] = file
    for pair in pairs.values():
        rows = pair.pop("result", None) or pair.pop("score")
        yield from claims_of([rows], pair.values(), *_model(rows.name))


def _model(name: str) -> tuple[str, str]:
    """The folder that contains the models, and the model, whose folder may have groups in it."""
    parts = name.split("/")[:-1] or ["bfcl"]
    roots = [place for place, part in enumerate(parts[:-1]) if ROOT.match(part)]
    place = roots[-1] + 1 if roots else len(parts) - 1
    return "/".join(parts[:place]), parts[place]


def read(artifact: Artifact) -> Readings:
    match = PARTS.fullmatch(artifact.path.name)
    category = match["category"] if match else ""
    model = _model(artifact.name)[1]
    if match and match["kind"] == "result":
        yield from _attempts(artifact, model, category)
        return
    lines = objects(artifact.path)
    header = fields(next(lines, None))
    is_alone = artifact.kind is Kind.ROLLOUTS
    passed = f"failures alone have rows, {header.get('correct_count')} passes have none"
    reason = passed if is_alone else None
    accuracy = header.get("accuracy")
    yield figure("accuracy", accuracy, "mean/reward", category, reason=reason, is_main=True)
    yield counted("total_count", header.get("total_count"), "num_tasks", category)
    if is_alone:
        passes = header.get("correct_count")
        yield figure("correct_count", passes, "passes_without_rows", category, reason=passed)
        yield Line()
    for entry in lines if is_alone else ():
        if not isinstance(entry, dict):
            yield entry
        elif (task := _failed(entry)) is None or entry.get("valid") is not False:
            yield Reject("not an attempt that failed: no id, or valid is not false")
        else:
            answer = entry.get("model_result_raw", entry.get("model_result"))
            yield _row(task, {**entry, "result": answer}, model, category, entry, 0.0)


def _attempts(artifact: Artifact, model: str, category: str) -> Readings:
    ids = [text(row, "id") for row in objects(artifact.path) if not isinstance(row, Line)]
    failures: dict[str | None, Any] = {}
    counts: list[Any] = []
    for entry in (one for path in artifact.beside for one in objects(path)):
        if isinstance(entry, dict) and entry.get("valid") is False:
            failures[_failed(entry, ids)] = picked(
                entry, "error", "error_type", "possible_answer", "prompt"
            )
        elif isinstance(entry, dict) and not counts:
            counts = [entry.get("total_count"), entry.get("correct_count")]
    # Otherwise one that is no failure may not have been scored.
    is_scored = counts == [len(ids), len(ids) - len(failures)] and failures.keys() <= set(ids)
    for row in objects(artifact.path):
        if not isinstance(row, dict):
            yield row
        elif (task := text(row, "id")) is None or "result" not in row:
            yield Reject("no id or no result: not an attempt of BFCL")
        else:
            reward = 0.0 if task in failures else 1.0 if is_scored else None
            yield _row(task, row, model, category, failures.get(task, {}), reward)


def _failed(entry: Mapping[str, Any], ids: Sequence[str | None] = ()) -> str | None:
    """The id of an attempt that failed: of its question, else its own, which may be a place."""
    own = text(entry, "id")
    by_question = text(entry, "prompt", "id")
    nth = int(own) if own and own.isdecimal() and len(own) < 10 else 0
    is_place = by_question is None and own not in ids and 0 < nth <= len(ids)
    return ids[nth - 1] if is_place else by_question or own


def _row(
    task: str,
    row: Mapping[str, Any],
    model: str,
    category: str,
    failure: Mapping[str, Any],
    reward: float | None,
) -> Row:
    question, output = _turns(row)
    wrong = get(failure, "error", "error_message") or failure.get("error")
    broken = _broken(row.get("result"), wrong)
    # An empty answer is one, and nothing is missing where no call is by_question for; an error says
    # nothing of what was done before.
    is_recorded = bool(output) or (
        isinstance(row.get("result"), list | str) and "irrelevance" not in category
    )
    value = attempt(
        task,
        question or [*_messages(get(failure, "prompt", "question", 0))],
        output if is_recorded and not broken else None,
        {},
        None,
        model=model,
        tokens=[_sum(row.get(f"{side}_token_count")) for side in ("input", "output")],
        repeat=0,
        total_run_time=_sum(row.get("latency")),
        error=None if broken else wrong,
        error_message=broken,
        error_type=get(failure, "error", "error_type") or failure.get("error_type"),
        # As a text, which notes of failures quote. Passes have none: as expected calls it would be
        # counted against failures alone.
        possible_answer=as_json(accepted) if (accepted := failure.get("possible_answer")) else None,
    )
    return Row({**value, "reward": reward}, category, category, question=f"{category} {task}")


def _broken(answer: Any, wrong: Any) -> str | None:
    """The error of the harness that ended the attempt: in place of its answer, or in its score."""
    texts = (answer, *(wrong if isinstance(wrong, list) else [wrong]))
    return next((one for one in texts if isinstance(one, str) and one.startswith(BROKEN)), None)


def _turns(row: Mapping[str, Any]) -> tuple[list[Object], list[Object]]:
    """The first question and what followed, by the log of several turns, else the answers alone."""
    question: list[Object] = []
    output: list[Object] = []
    for turn in items(row, "inference_log"):
        query = [*_messages(get(turn, "begin_of_turn_query"))]
        output += query if question else []
        question = question or query
        for name, step in turn.items() if isinstance(turn, dict) else ():
            waiting: list[str] = []
            for one in items(step) if name.startswith("step_") else ():
                content = get(one, "content")
                if get(one, "role") == "assistant":
                    answers = [*_answers(content, f"{len(output)}")]
                    waiting += [item["call_id"] for item in answers if "call_id" in item]
                    output += answers
                elif get(one, "role") == "tool":
                    output.append(result(text(content) or "", waiting.pop(0) if waiting else None))
    return question, output or [*_answers(row.get("result"), "0")]


def _messages(listed: Any) -> Iterator[Object]:
    for one in items(listed):
        if words := text(one, "content"):
            yield message(words, text(one, "role") or "user")


def _answers(answer: Any, place: str) -> Iterator[Object]:
    """Text, or calls as `{name: arguments}`; of several turns and steps lists of these."""
    if isinstance(answer, str):
        yield message(answer)
    elif isinstance(answer, dict):
        for nth, (name, arguments) in enumerate(answer.items()):
            yield call(name, arguments, f"call-{place}-{nth}")
    elif isinstance(answer, list):
        for nth, one in enumerate(answer):
            yield from _answers(one, f"{place}-{nth}")


def _sum(counts: Any) -> float | None:
    return total(map(_sum, counts)) if isinstance(counts, list) else number(counts)
