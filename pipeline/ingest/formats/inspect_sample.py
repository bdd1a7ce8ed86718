"""A sample of Inspect AI as a row: an attempt is one sample at one epoch.

Its transcript is `messages`; `events`, most of a sample's bytes, are read only where an agent kept
its conversation to itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pipeline.ingest.formats import (
    Row,
    as_json,
    call,
    fields,
    get,
    items,
    message,
    number,
    packed,
    parsed,
    result,
    scores_of,
    text,
    told,
)

LETTERS = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
# What a sample must say before its events for these to be passed over unread.
COUNTED = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
BEFORE_EVENTS = {"id", "epoch", "messages", "output", "scores"}


@dataclass(frozen=True)
class Log:
    """What a log says before its samples; the first of `scores` that one has is its reward."""

    task: str
    model: str | None
    request: dict[str, Any]
    scores: tuple[str, ...]


def sample(content: bytes) -> Any:
    """A sample without its events, where they can be told from the rest without reading them.

    What stands before and behind a gap is JSON by itself only where the gap begins and ends
    between fields of the sample.
    """
    start, end = content.find(b'"events":'), content.rfind(b'"model_usage":')
    before = content[:start].rstrip()
    if 0 < start < end and before.endswith(b","):
        try:
            first = json.loads(before[:-1] + b"}", parse_constant=lambda _: None)
            if first.keys() >= BEFORE_EVENTS and _has_answer(first):
                rest = json.loads(b"{" + content[end:], parse_constant=lambda _: None)
                return {**rest, **first}
        except (ValueError, RecursionError):
            pass
    packed.check_size(content)
    return parsed(content)


def _has_answer(said: dict[str, Any]) -> bool:
    return any(get(one, "role") == "assistant" for one in items(said.get("messages")))


def row(sample: Any, log: Log) -> Row:
    """A sample as a row; ValueError says why it is none."""
    if not isinstance(sample, dict):
        raise ValueError("not a sample")
    task, epoch = text(sample.get("id")), sample.get("epoch", 1)
    if task is None or not isinstance(epoch, int):
        raise ValueError("a sample without an id or an epoch")
    attachments = fields(sample.get("attachments"))
    scores, output = _scores(sample, log), _output(sample, attachments)
    chosen = _chosen(scores, log.scores)
    said = text(get(sample, "error", "message"))
    value = {
        "_ng_task_index": task,
        "_ng_rollout_index": epoch - 1,
        "reward": chosen["score"] if chosen else None,
        "responses_create_params": {**log.request, "input": _asked(sample, attachments)},
        "response": told({"model": log.model, "usage": _usage(sample, log.model)})
        | ({"output": output} if output or sample.get("messages") else {}),
        "target": sample.get("target"),
        "metadata": fields(sample.get("metadata")),
        **scores_of(scores, chosen["name"] if chosen else None),
        "stop_reason": _stop_reason(sample),
        "termination_reason": _limit(sample.get("limit")),
        "error_message": said,
        "exception_type": _exception(said),
        "n_error_retries": len(items(sample.get("error_retries"))),
        "is_invalidated": sample.get("invalidation") is not None,
        "total_run_time": number(sample.get("total_time")),
        "working_time": number(sample.get("working_time")),
    }
    answer = {"extracted_answer": chosen.pop("answer")} if chosen and "answer" in chosen else {}
    return Row(
        {**value, **answer}, benchmark=log.task, limit_reached=_limit_type(sample.get("limit"))
    )


def _stop_reason(sample: dict[str, Any]) -> str | None:
    """Why the model stopped; `unknown` is Inspect's word for what no one said."""
    said = text(get(sample, "output", "choices", 0, "stop_reason"))
    return None if said == "unknown" else said


def _chosen(scores: list[dict[str, Any]], names: tuple[str, ...]) -> dict[str, Any] | None:
    """The score that is the reward; where the log names none, the first."""
    by_name = {score["name"]: score for score in reversed(scores)}
    wanted = [by_name[name] for name in names if name in by_name]
    return (wanted or ([] if names else scores) or [None])[0]


def _scores(sample: dict[str, Any], log: Log) -> list[dict[str, Any]]:
    """Every score as a number, one for each value of a scorer that gives several.

    The oldest samples have one score, which only the log names.
    """
    given = fields(sample.get("scores"))
    if not given and isinstance(sample.get("score"), dict):
        given = {log.scores[0] if log.scores else "score": sample["score"]}
    found = []
    for name, score in given.items():
        value = get(score, "value")
        parts = value.items() if isinstance(value, dict) else [(None, value)]
        for key, part in parts:
            said = {
                "explanation": text(get(score, "explanation")),
                "answer": text(get(score, "answer")),
            }
            named = {"name": name if key is None else f"{name}.{key}", "score": _number(part)}
            found.append(named | told(said))
    return found


def _number(value: Any) -> float | None:
    letter = value.strip().lower() if isinstance(value, str) else None
    return LETTERS[letter] if letter in LETTERS else number(value)


def _limit_type(limit: Any) -> str | None:
    return text(get(limit, "type")) or text(limit)


def _limit(limit: Any) -> str | None:
    kind = _limit_type(limit)
    return f"{kind} limit" if kind else None


def _exception(said: str | None) -> str | None:
    match = re.match(r"([A-Za-z_]\w*)\s*[(:]", said or "")
    return match[1] if match else None


def _usage(sample: dict[str, Any], model: str | None) -> dict[str, Any] | None:
    """The evaluated model's own: those of judges stand beside it."""
    every = fields(sample.get("model_usage"))
    used = every.get(model or "") or (next(iter(every.values())) if len(every) == 1 else None)
    if not isinstance(used, dict):
        return None
    counted = [number(used.get(name)) or 0 for name in COUNTED]
    missing = (number(used.get("total_tokens")) or 0) - sum(counted)
    # Some writers give the total and leave the output at 0.
    output = (
        missing if used.get("output_tokens") == 0 and missing > 0 else used.get("output_tokens")
    )
    return told({**used, "output_tokens": output, "cost": used.get("total_cost")})


def _asked(sample: dict[str, Any], attachments: dict[str, Any]) -> list[dict[str, Any]]:
    """The system's message, where the transcript has one, and the input with its choices."""
    first = get(sample, "messages", 0)
    system = [first] if get(first, "role") == "system" else []
    given = sample.get("input")
    asked = given if isinstance(given, list) else [{"role": "user", "content": given}]
    if any(get(one, "role") == "system" for one in asked):
        system = []
    said = [
        message(_content(get(one, "content"), attachments), text(get(one, "role")) or "user")
        for one in [*system, *asked]
    ]
    choices = [text(one) or "" for one in items(sample.get("choices"))]
    if choices:
        listed = "\n".join(f"{chr(65 + place)}) {one}" for place, one in enumerate(choices))
        said.append(message(listed, "user"))
    return said


def _output(sample: dict[str, Any], attachments: dict[str, Any]) -> list[dict[str, Any]]:
    """What came after the question; from the events where no answer is among the messages.

    Where those hold none either, the answer is what the sample gives for its output. What a solver
    has users say besides the input came after it.
    """
    messages = items(sample.get("messages"))
    given = sample.get("input")
    n_users = sum(get(one, "role") == "user" for one in given) if isinstance(given, list) else 1
    place = 0
    for one in messages:
        role = get(one, "role")
        n_users -= role == "user"
        if get(one, "source") != "input" and role != "system" and (role != "user" or n_users < 0):
            break
        place += 1
    if not _has_answer({"messages": messages[place:]}):
        messages, place = [*messages[place:], *_from_events(sample)], 0
        completion = get(sample, "output", "completion")
        if completion and not _has_answer({"messages": messages}):
            messages.append({"role": "assistant", "content": completion})
    return [item for one in messages[place:] for item in _items(one, attachments)]


def _from_events(sample: dict[str, Any]) -> Iterator[Any]:
    for event in items(sample.get("events")):
        kind = get(event, "event")
        if kind == "model" and (said := get(event, "output", "choices", 0, "message")):
            yield said
        elif kind == "tool":
            answered = {"content": get(event, "result"), "error": get(event, "error")}
            yield {"role": "tool", "tool_call_id": get(event, "id"), **answered}


def _items(said: Any, attachments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    role = get(said, "role")
    content = _content(get(said, "content"), attachments)
    if role == "tool":
        yield result(_answer(content, get(said, "error")), get(said, "tool_call_id"))
        return
    parts = content if isinstance(content, list) else [content]
    thoughts = [get(part, "reasoning") for part in parts if get(part, "type") == "reasoning"]
    if thought := "\n\n".join(one for one in thoughts if isinstance(one, str)):
        yield {"type": "reasoning", "summary": [{"type": "summary_text", "text": thought}]}
    spoken: list[Any] = []
    for part in parts:
        if get(part, "type") == "tool_use":
            # A tool that the model's own server ran: its call and its answer are one part.
            yield from _said(spoken, role)
            spoken = []
            yield call(get(part, "name"), get(part, "arguments"), get(part, "id"))
            yield result(_answer(get(part, "result"), get(part, "error")), get(part, "id"))
        elif get(part, "type") != "reasoning" and part:
            spoken.append(part)
    yield from _said(spoken if isinstance(content, list) else content, role)
    for one in items(get(said, "tool_calls")):
        yield call(get(one, "function"), get(one, "arguments"), get(one, "id"))


def _said(content: Any, role: Any) -> Iterator[dict[str, Any]]:
    if content:
        yield message(content, text(role) or "assistant")


def _answer(content: Any, error: Any) -> str:
    """What a tool answered; its error as JSON, which is known for one."""
    spoken = content if isinstance(content, str) else as_json(content)
    if isinstance(content, list) and all(get(part, "type") == "text" for part in content):
        spoken = "".join(text(get(part, "text")) or "" for part in content)
    if error is None:
        return spoken
    kind, said = text(get(error, "type")), text(get(error, "message")) or text(error)
    whole = {"error": ": ".join(part for part in (kind, said) if part) or "error"}
    return as_json(whole | ({"output": spoken} if content else {}))


def _content(content: Any, attachments: dict[str, Any]) -> Any:
    """Text, or parts with text: what is attached is put in, images and the like are only named."""
    if isinstance(content, list):
        return [_part(part, attachments) for part in content]
    return _attached(content, attachments)


def _part(part: Any, attachments: dict[str, Any]) -> dict[str, Any]:
    kind = text(get(part, "type")) or "part"
    if kind == "tool_use":
        made = {name: get(part, name) for name in ("id", "name", "arguments", "error")}
        return {"type": kind, **made, "result": _attached(get(part, "result"), attachments)}
    for name in ("reasoning", "text"):
        if isinstance(get(part, name), str):
            return {"type": kind, name: _attached(part[name], attachments)}
    return {"type": kind}


def _attached(value: Any, attachments: dict[str, Any]) -> str:
    spoken = value if isinstance(value, str) else ""
    if spoken.startswith("attachment://"):
        return text(attachments.get(spoken.removeprefix("attachment://"))) or spoken
    return spoken
