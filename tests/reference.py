"""A plain, slow reading of rollout, inputs and failures files, straight from the documents.

Nothing here is taken from `pipeline`: lines are split at newlines, decoded as strict UTF-8 and
read with the standard `json`. Tests hold the warehouse against what this module says.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]

LONGEST_LINE = 16 * 1024 * 1024
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LONE_SURROGATE = re.compile("[\ud800-\udfff]")

# The fields that FORMATS.md describes; every other top-level field belongs to the verifier.
OWNED = frozenset(
    "_ng_task_index _ng_rollout_index _ng_attempt_index stage_index agent_ref skills_ref reward "
    "reward_components mask_sample response responses_create_params ng_trajectory "
    "ng_model_call_capture ng_agent_observations ng_perf _ng_failure_class _ng_failure_terminal "
    "_ng_failure_judge_error".split()
)
KINDS = {
    "message": "message",
    "reasoning": "reasoning",
    "function_call": "tool_call",
    "function_call_output": "tool_result",
}
TELLING = frozenset(
    "exit_code returncode return_code error status success isError is_error".split()
)
PLACEHOLDER_MODELS = ("", "model", "policy_model", "synthetic")


@dataclass(frozen=True)
class Line:
    """A line of a file: `verdict` is rollout, input, failure, reject or blank."""

    number: int
    verdict: str
    row: Row | None = None


@dataclass(frozen=True)
class Json:
    """A value that is in the warehouse as JSON text, however it is spelt there."""

    value: Any


class Anything:
    """A value of which the documents say nothing."""


ANYTHING = Anything()


@dataclass(frozen=True)
class Event:
    """One item of the flattened output."""

    kind: str
    role: Any
    tool: Any
    call_id: Any
    arguments: Any
    text: Any


def lines(data: bytes, kind: str = "rollouts") -> list[Line]:
    """Every line of a file of this kind (rollouts, inputs, failures) with what it is."""
    pieces = data.split(b"\n")
    if not pieces[-1]:
        pieces.pop()  # a final newline ends the last line; it does not begin another
    return [_line(number, piece, kind) for number, piece in enumerate(pieces, start=1)]


def _line(number: int, piece: bytes, kind: str) -> Line:
    if len(piece) > LONGEST_LINE:
        return Line(number, "reject")
    if number == 1:
        piece = piece.removeprefix(BYTE_ORDER_MARK)
    try:
        text = piece.decode("utf-8")
    except UnicodeDecodeError:
        return Line(number, "reject")
    if not text.strip():
        return Line(number, "blank")
    try:
        row = json.loads(text)
    except (ValueError, RecursionError):
        return Line(number, "reject")
    if not isinstance(row, dict):
        return Line(number, "reject")
    row = clean(row)
    return Line(number, _verdict(row, kind), row)


def _verdict(row: Row, kind: str) -> str:
    if kind == "inputs":
        return "input"
    if kind == "failures" or is_scalar(row.get("_ng_failure_class")):
        return "failure"
    is_attempt = "reward" in row or "response" in row or outcome_field(row) is not None
    return "rollout" if is_attempt else "input"


def outcome_field(row: Row) -> str | None:
    """What counts as the reward in a row that has none: a number `score`, else a boolean."""
    if number(row.get("score")) is not None:
        return "score"
    names = ("correct", "passed", "success")
    return next((name for name in names if isinstance(row.get(name), bool)), None)


def clean(value: Any) -> Any:
    """The value as a warehouse can hold it: no NaN, no infinity, no half of a character."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return LONE_SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", value)
    if isinstance(value, list):
        return [clean(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): clean(item) for key, item in value.items()}
    return value


def is_scalar(value: Any) -> bool:
    return value is not None and not isinstance(value, (dict, list))


def losers(read: list[Line]) -> set[int]:
    """The numbers of lines whose key, given in full, another line of the file holds with right."""
    agents = {agent(line.row) for line in read if line.row is not None} - {None}
    by_key = defaultdict(list)
    for line in read:
        if line.verdict not in ("rollout", "input"):
            continue
        assert line.row is not None
        key = (line.row.get("_ng_task_index"), line.row.get("_ng_rollout_index"))
        if all(type(part) is int for part in key):
            run = agent(line.row) if len(agents) > 1 else None
            by_key[line.verdict, run, integer(line.row.get("stage_index")), *key].append(line)
    lost = set()
    for sharing in by_key.values():
        ranked = sorted(sharing, key=lambda line: (-_attempt(line.row), line.number))
        lost |= {line.number for line in ranked[1:]}
    return lost


def _attempt(row: Row) -> float:
    inputs = integer(row.get("_ng_attempt_index"))
    return -math.inf if inputs is None else inputs


def number(value: Any) -> float | None:
    """A JSON number up to 1e50, and 0 below 1e-50; true and "1.0" are none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or abs(value) > 1e50:
        return None
    return 0.0 if abs(value) < 1e-50 else float(value)


def integer(value: Any) -> int | None:
    """A JSON number without a fraction."""
    actual = number(value)
    return int(actual) if actual is not None and actual == int(actual) else None


def reward(row: Row) -> float | None:
    """The reward; none where nothing was verified, and another field where there is none."""
    if row.get("verification_skipped") is True:
        return None
    if "reward" in row or (field := outcome_field(row)) is None:
        return number(row.get("reward"))
    return float(row[field])


def agent(row: Row) -> str | None:
    """The name in `agent_ref`; a name of spaces is none."""
    name = _object(row.get("agent_ref")).get("name")
    return name.strip(" ") or None if isinstance(name, str) else None


def verifier(row: Row) -> Row:
    """Every top-level field that the format does not own."""
    return {name: value for name, value in row.items() if name not in OWNED}


def model(row: Row) -> str | None:
    """The first name that is no placeholder: the response's, else the request's."""
    for field in ("response", "responses_create_params"):
        name = _object(row.get(field)).get("model")
        if isinstance(name, str) and name.strip().lower() not in PLACEHOLDER_MODELS:
            return name.strip()
    return None


def finish_reason(row: Row) -> Any:
    """Why the output was cut off, where the response says so."""
    details = _object(_object(row.get("response")).get("incomplete_details"))
    return details.get("reason")


def count(value: Any) -> int | None:
    """A whole number that counts something and fits 64 bits."""
    inputs = number(value)
    if inputs is None or inputs % 1 or not 0 <= inputs < 9e15:
        return None
    return int(inputs)


def tokens(row: Row) -> tuple[int | None, int | None]:
    """Input and output tokens; all zero means unknown."""
    usage = _object(_object(row.get("response")).get("usage"))
    perf = _object(row.get("ng_perf"))
    for source, names in (
        (usage, (("input_tokens", "prompt_tokens"), ("output_tokens", "completion_tokens"))),
        (perf, (("prompt_tokens",), ("completion_tokens",))),
    ):
        actual = tuple(
            next((n for n in (count(source.get(name)) for name in pair) if n is not None), None)
            for pair in names
        )
        if any(actual):
            return actual[0], actual[1]
    return None, None


def events(row: Row) -> list[Event]:
    """The items of the response's output, nested lists flattened, in order."""
    response = row.get("response")
    output = response.get("output") if isinstance(response, dict) else response
    return [_event(item) for item in flat(output)]


def flat(output: Any) -> list[Any]:
    """A bare item is a list of one; nothing is an empty list."""
    if not isinstance(output, list):
        return [] if output is None else [output]
    actual: list[Any] = []
    for item in output:
        actual += flat(item) if isinstance(item, list) else [item]
    return actual


def _event(item: Any) -> Event:
    if isinstance(item, str):
        return Event("message", "assistant", None, None, None, item)
    if not isinstance(item, dict):
        return Event("other", None, None, None, None, Json(item))
    kind = item.get("type")
    if kind is None and "role" in item:
        kind = "message"
    kind = KINDS.get(kind, "other") if isinstance(kind, str) else "other"
    texts = {
        "message": lambda: content_text(item.get("content")),
        "reasoning": lambda: _thought(item),
        "tool_call": lambda: None,
        "tool_result": lambda: text_or_json(item.get("output")),
        "other": lambda: Json(item),
    }
    return Event(
        kind,
        text_or_json(item.get("role")),
        text_or_json(item.get("name")),
        text_or_json(item.get("call_id")),
        text_or_json(item.get("arguments")),
        texts[kind](),
    )


def text_or_json(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else Json(value)


def _thought(item: Row) -> Any:
    """Reasoning is in `summary`, at times in `content`."""
    return content_text(item.get("summary")) or content_text(item.get("content"))


def content_text(content: Any) -> Any:
    """The text of a string or of parts; a part without text is named by its type."""
    parts = content if isinstance(content, list) else [content]
    if content is None or isinstance(content, (bool, int, float)):
        return None
    texts = []
    for part in parts:
        text = part
        if isinstance(part, dict):
            text = part.get("text")
            text = part.get("refusal") if text is None else text
            text = f"[{part.get('type') or 'part'}]" if text is None else text
        if not isinstance(text, str):
            return ANYTHING
        texts.append(text)
    return "".join(texts)


def final_text(row: Row) -> Any:
    """The text of the last message that the assistant wrote."""
    own = [e for e in events(row) if e.kind == "message" and e.role in (None, "assistant")]
    return own[-1].text if own else None


def is_tool_error(text: Any) -> bool | None:
    """What a tool's JSON answer says of its failure; none where it is not plain."""
    try:
        answer = json.loads(text) if isinstance(text, str) else text.value
    except (ValueError, AttributeError):
        return None
    if not isinstance(answer, dict):
        return None
    if any(number(answer.get(name)) not in (None, 0) for name in ("exit_code", "returncode")):
        return True
    if answer.get("status") == "error":
        return True
    return None if TELLING & set(answer) else False


def _object(value: Any) -> Row:
    return value if isinstance(value, dict) else {}


def agrees(expected: Any, got: Any) -> bool:
    """Is what the warehouse holds what was read? Empty text and none are alike."""
    if expected is ANYTHING:
        return True
    if isinstance(expected, Json):
        return got is not None and same(expected.value, parse(got))
    return (expected or None) == (got or None)


def parse(text: str) -> Any:
    """JSON from the warehouse: it may hold no NaN; a number too large for a double is null."""
    return clean(json.loads(text, parse_constant=_refuse))


def _refuse(literal: str) -> None:
    raise AssertionError(f"{literal} in the warehouse's JSON")


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: true is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other
