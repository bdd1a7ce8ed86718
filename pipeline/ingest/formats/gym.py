"""Rows of NeMo Gym: the declared columns, and the repair of irregular rows."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from . import (
    Object,
    fields,
    items,
)
from .chat import chat, listed_messages


@dataclass(frozen=True)
class Column:
    """A value read from a row: its name in `raw.records`, its path, its type there."""

    name: str
    path: str
    type: str = "JSON"


# Values that readers of other formats add to a row; no file contains this field.
ADDED_FIELD = "_blade"
ADDED_NAMES = (
    "variant",
    "benchmark",
    "order",
    "question",
    "transcript",
    "limit_reached",
    "usual_end",
)

# Fields that Gym itself adds to a row begin with `_ng_`.
# Scalars are read as JSON and typed in staging: a type that disagrees never fails a load.
COLUMNS = (
    Column("task_index", "_ng_task_index"),
    Column("rollout_index", "_ng_rollout_index"),
    Column("attempt_index", "_ng_attempt_index"),
    Column("stage_index", "stage_index"),
    Column("agent", "agent_ref.name"),
    Column("skills_hash", "skills_ref.hash"),
    Column("reward", "reward"),
    Column("reward_components", "reward_components"),
    Column("mask_sample", "mask_sample"),
    Column("failure_class", "_ng_failure_class"),
    Column("failure_terminal", "_ng_failure_terminal"),
    Column("failure_judge_error", "_ng_failure_judge_error"),
    Column("response_model", "response.model"),
    Column("response_status", "response.status"),
    Column("response_error", "response.error"),
    Column("incomplete_reason", "response.incomplete_details.reason"),
    Column("usage", "response.usage"),
    Column("created_at", "response.created_at"),
    Column("completed_at", "response.completed_at"),
    Column("response_temperature", "response.temperature"),
    Column("response_top_p", "response.top_p"),
    Column("response_max_output_tokens", "response.max_output_tokens"),
    Column("request_model", "responses_create_params.model"),
    Column("request_temperature", "responses_create_params.temperature"),
    Column("request_top_p", "responses_create_params.top_p"),
    Column("request_max_output_tokens", "responses_create_params.max_output_tokens"),
    Column("request_effort", "responses_create_params.reasoning.effort"),
    Column("perf", "ng_perf"),
    Column("trajectory", "ng_trajectory"),
    Column("model_call_capture", "ng_model_call_capture"),
    Column("agent_observations", "ng_agent_observations"),
    *(Column(name, f"{ADDED_FIELD}.{name}") for name in ADDED_NAMES),
)

# Top-level fields that Gym or blade defines; all other fields are kept in `verifier`.
FORMAT_FIELDS = tuple(
    dict.fromkeys(
        [column.path.partition(".")[0] for column in COLUMNS]
        + ["agent_ref", "skills_ref", "response", "responses_create_params"]
    )
)

# Explicit task ids in order of trust, at the top of a row, then inside its metadata.
# Never `task_name`: one public file gives the same value to five tasks.
ID_FIELDS = tuple(
    "task_id problem_id instance_id uuid uid question_id id hashid task_idx example_id sample_id "
    "source_id provenance_id row_id data_index".split()
)
ID_PARENTS = ("verifier_metadata", "metadata", "responses_create_params.metadata")

# Fields that state the right answer: they distinguish questions with the same words. The expected
# calls of other formats (EXPECTED_CALLS) do not: a harness may correct them in a later version, and
# the question stays the same.
EXPECTED_CALLS = "expected_calls"
TRUTH_PATTERN = (
    "^(expected_.*|ground_truth.*|gt|gold.*|reference|reference_(answer|solution|response)"
    "|answer|answer_key|correct_answer|label|solution|target)$"
)

ITEM_FIELDS = {
    "type": "VARCHAR",
    "role": "VARCHAR",
    "name": "VARCHAR",
    "call_id": "VARCHAR",
    "arguments": "VARCHAR",
    "output": "VARCHAR",
    "content": "JSON",
    "summary": "JSON",
}
TOOL_FIELDS = {"name": "VARCHAR", "function": {"name": "VARCHAR"}}
EVENT_KINDS = {
    "message": "message",
    "reasoning": "reasoning",
    "function_call": "tool_call",
    "function_call_output": "tool_result",
}

# An item that is not a typed object is wrapped in one, under this name.
WRAPPED = "blade_item"
MOST_ITEMS = 1_000_000

# Fields of a tool's JSON answer that show a failure, for json_transform.
TOOL_ANSWER_FIELDS = (
    "exit_code returncode return_code error status status_code statusCode isError is_error success"
)
TOOL_ANSWER_SPEC = json.dumps(dict.fromkeys(TOOL_ANSWER_FIELDS.split(), "JSON"))

# What DuckDB accepts as JSON but Python does not: commas before a closing bracket, and NaN
# literals. A match inside a string is harmless: the row is only read a second time, in Python.
_LITERAL = r"\s*-?(?i:nan|inf(inity)?)\s*[,\]}]"
SUSPECT_PATTERNS = (rf",(\s*[\]}}]|{_LITERAL})", rf":{_LITERAL}", rf"\[{_LITERAL}")

# Where rows without a request of Gym have the question, at the top or inside one of these.
QUESTION_FIELDS = ("messages", "prompt", "input", "question")
REQUEST_FIELDS = ("request", "body")
QUESTION_PATTERN = rf'"({"|".join(QUESTION_FIELDS)})"\s*:'

LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def id_names() -> list[str]:
    """The explicit task ids in order of trust, those inside metadata with the parent's name."""
    nested = [f"{parent}.{name}" for parent in ID_PARENTS for name in ID_FIELDS]
    return [*ID_FIELDS, *nested]


def transform_spec(others: Iterable[str]) -> str:
    """The declared columns, and further fields whole, as the structure of json_transform."""
    spec: Object = dict.fromkeys(others, "JSON")
    for column in COLUMNS:
        node = spec
        *parents, leaf = column.path.split(".")
        for parent in parents:
            node = node.setdefault(parent, {})
        node[leaf] = column.type
    spec["response"]["output"] = [ITEM_FIELDS]
    spec["responses_create_params"]["input"] = "JSON"
    spec["responses_create_params"]["tools"] = [TOOL_FIELDS]
    return json.dumps(spec)


def repaired(text: str) -> str:
    """Repair an irregular row; returns JSON text, or raises ValueError with the reason."""
    try:
        row = json.loads(text, parse_constant=lambda _: None, parse_float=_finite)
        if not isinstance(row, dict):
            raise ValueError(f"not a JSON object but {json_type(row)}")
        for field, shaped in (("response", _response), ("responses_create_params", _request)):
            if row.get(field) is not None:
                row[field] = shaped(row[field])
        if row.get("responses_create_params") is None and (question := _question(row)):
            row["responses_create_params"] = {"input": question}
        return encodable(json.dumps(row, ensure_ascii=False), mark="\\\\u")
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        raise ValueError(f"not JSON: {what} at column {error.colno}") from error
    except RecursionError as error:
        raise ValueError("not JSON: nested too deeply") from error


def encodable(text: str, *, mark: str = "\\u") -> str:
    """Escape lone surrogates, which cannot be encoded; different texts stay different."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return LONE_SURROGATE.sub(lambda half: f"{mark}{ord(half[0]):04x}", text)
    return text


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def json_type(value: object) -> str:
    if value is None:
        return "null"
    names = {str: "a string", bool: "a boolean", list: "a list", dict: "an object"}
    return names.get(type(value), "a number")


def _response(value: Any) -> Object:
    """Convert a response that is text or a list of items to an object with typed items.

    It may be JSON text, and it may be a chat completion, whose first choice is the answer.
    """
    response = value if isinstance(value, dict) else {"output": value}
    if isinstance(value, str) and {"output", "choices"} & fields(value).keys():
        response = fields(value)
    output = response.get("output")
    if output is None and (choices := items(response.get("choices"))):
        output = list(chat([fields(choices[0]).get("message")]))
    elif isinstance(output, str):
        output = listed_messages(output) or output
    flat = _flat(output)
    if len(flat) > MOST_ITEMS:
        raise ValueError(f"output has more than {MOST_ITEMS} items")
    return {**response, "output": [_item(item) for item in flat]}


def _request(value: Any) -> Object:
    request = fields(value)
    return request if isinstance(value, dict) or "input" in request else {"input": value}


def _question(row: Object) -> Any:
    """The question of a row without a request of Gym: messages before an answer, or a text."""
    for place in (row, *(fields(row.get(name)) for name in REQUEST_FIELDS)):
        for name in QUESTION_FIELDS:
            if messages := listed_messages(place.get(name)):
                roles = [one.get("role") if isinstance(one, dict) else None for one in messages]
                if None in roles:
                    continue
                if "response" not in row and "assistant" in roles:
                    messages = messages[: roles.index("assistant")]
                return messages
            if name in ("prompt", "question") and isinstance(place.get(name), str):
                return place[name]
    return None


def _flat(output: Any) -> list[Any]:
    if not isinstance(output, list):
        return [] if output is None else [output]
    return [item for part in output for item in (_flat(part) if isinstance(part, list) else [part])]


def _item(item: Any) -> Object:
    if isinstance(item, dict):
        if isinstance(item.get("type"), str):
            return item
        if item.get("type") is None and "role" in item:
            return {**item, "type": "message"}
    if isinstance(item, str):
        return {"type": "message", "role": "assistant", "content": item}
    return {"type": "other", WRAPPED: item}
