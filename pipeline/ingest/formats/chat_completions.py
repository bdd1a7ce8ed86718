"""Logged requests: JSONL, a line per chat completion with its request and its response."""

from __future__ import annotations

import re

from ...artifact import Artifact, Kind
from . import (
    Claim,
    Claims,
    Files,
    Object,
    Readings,
    Reject,
    Row,
    definitions,
    fields,
    get,
    head,
    items,
    number,
    objects,
    text,
    without_empty,
)
from .chat import chat, listed_messages

TITLE = "Logged chat completions"
FILES = "any `*.jsonl` whose rows have `request.messages` and `response.choices`"
GIVES = "transcript tokens durations"
SCORE = "`reward`, `score` or a verdict as in rows of Gym; without these an attempt is unscored"
NOTES = (
    "One run per file. Tasks by an id of the row (`task_id`, `data_index` and the like), else by "
    "the request. Of several choices the first is the answer."
)
NAMES = re.compile(r"\.jsonl(\.gz|\.zst)?$", re.IGNORECASE)
FIRST_OF_ROWS = (
    re.compile(rb'"request"\s*:\s*"?\{'),
    re.compile(rb'\\?"messages\\?"\s*:\s*\['),
    re.compile(rb'\\?"(choices|error)\\?"\s*:'),
)
# All rows of Gym have their request here.
OF_GYM = b'"responses_create_params"'
MILLISECONDS = ("duration_ms", "latency_ms", "elapsed_ms")
READ_FIELDS = ("request", "response", *MILLISECONDS)


def claims(files: Files) -> Claims:
    for file in files:
        begun = head(file.path)
        if OF_GYM not in begun and all(part.search(begun) for part in FIRST_OF_ROWS):
            stem = NAMES.sub("", file.base)
            yield Claim(file, Kind.ROLLOUTS, file.folder, stem)


def read(artifact: Artifact) -> Readings:
    for row in objects(artifact.path):
        if not isinstance(row, dict):
            yield row
        elif not listed_messages(get(row, "request", "messages")):
            yield Reject("no request with messages")
        else:
            yield Row(_row(row))


def _row(row: Object) -> Object:
    request, response = fields(row, "request"), fields(row, "response")
    choices = items(response, "choices")
    answer = {"output": list(chat([get(choices, 0, "message")]))} if choices else {}
    milliseconds = next((row[name] for name in MILLISECONDS if name in row), None)
    seconds = number(milliseconds)
    error = response.get("error") or row.get("error")
    request_values = {
        "input": list(chat(request["messages"], "user")),
        # A model is often asked for by another name than it answers with; an error has no answer.
        "model": text(request, "model") if choices else None,
        "temperature": number(request, "temperature"),
        "top_p": number(request, "top_p"),
        "max_output_tokens": request.get("max_completion_tokens", request.get("max_tokens")),
        "tools": definitions(request.get("tools")),
    }
    response_values = {
        "model": text(response, "model"),
        "usage": fields(response, "usage"),
        "error": {"message": text(error, "message") or text(error)} if error else None,
    }
    row_values = {
        "finish_reason": text(choices, 0, "finish_reason"),
        "total_run_time": None if seconds is None else seconds / 1000,
    }
    own = {name: value for name, value in row.items() if name not in READ_FIELDS}
    return {
        **own,
        **without_empty(row_values),
        "responses_create_params": without_empty(request_values),
        "response": {"object": "response", **without_empty(response_values), **answer},
    }
