"""A sample of Inspect AI as a row: an attempt is one sample at one epoch.

The transcript is `messages`; `events`, most bytes of a sample, are read only if an agent did not
record its conversation there, or its `output` does not say why the model stopped. What a grader, a
monitor or another role of the log answers is never the answer of the attempt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from . import (
    Object,
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
    picked,
    result,
    scores_of,
    text,
    without_empty,
)

LETTERS = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
MEDIA = ("image", "audio")
LONGEST_MEDIA = 1_500_000
# Of the results of all tools of one sample.
MOST_MEDIA = 3_000_000
# How the explanation begins that Inspect writes beside an I where its judge gave no grade.
NO_GRADE = "Grade not found in model output"
# In place of reasoning that its provider encrypted; beside it there may be a summary.
REDACTED = "(reasoning redacted by its provider)"
# How answers and calls end; all other reasons are the attempt's own.
USUAL_ENDS = ("stop", "tool_calls")
# Spans of the events of scorers.
SCORING = ("scorers", "scorer")
COUNTED = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
# Fields that a sample must have before its events, so that these can be skipped.
BEFORE_EVENTS = {"id", "epoch", "messages", "output", "scores"}


@dataclass(frozen=True)
class Log:
    """The header of a log; the first of `scores` that a sample has is its reward."""

    task: str
    model: str | None
    request: Object
    scores: tuple[str, ...]
    # Names of models that only other roles have, whole and without their provider.
    others: frozenset[str] = frozenset()


def short(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2]


def sample(content: bytes, log: Log) -> Any:
    """Parse a sample, without its events if they can be cut out.

    The parts before and after the events are valid JSON only if the cut is between fields of the
    sample.
    """
    start, end = content.find(b'"events":'), content.rfind(b'"model_usage":')
    before = content[:start].rstrip()
    if 0 < start < end and before.endswith(b","):
        try:
            first = json.loads(before[:-1] + b"}", parse_constant=lambda _: None)
            is_ended = first.keys() >= BEFORE_EVENTS and _reason(first["output"])
            if is_ended and _has_answer(first["messages"], log):
                rest = json.loads(b"{" + content[end:], parse_constant=lambda _: None)
                return {**rest, **first}
        except (ValueError, RecursionError):
            pass
    packed.check_size(content)
    return parsed(content)


def _has_answer(messages: Any, log: Log) -> bool:
    return any(
        get(one, "role") == "assistant" and not _is_of_other(one, log) for one in items(messages)
    )


def row(sample: Any, log: Log) -> Row:
    """A sample as a row; ValueError if it is invalid."""
    if not isinstance(sample, dict):
        raise ValueError("not a sample")
    task, epoch = text(sample, "id"), sample.get("epoch", 1)
    if task is None or not isinstance(epoch, int):
        raise ValueError("a sample without an id or an epoch")
    attachments = fields(sample, "attachments")
    scores, output = _scores(sample, log), _output(sample, attachments, log)
    chosen = _chosen(scores, log.scores)
    error = text(sample, "error", "message")
    ended = _stop_reason(sample, log)
    limit = text(sample, "limit", "type") or text(sample, "limit")
    value = {
        "_ng_task_index": task,
        "_ng_rollout_index": epoch - 1,
        "reward": chosen["score"] if chosen and _is_graded(chosen) else None,
        "responses_create_params": {**log.request, "input": _question(sample, attachments)},
        "response": without_empty(model=log.model, usage=_usage(sample, log))
        | ({"output": output} if output or sample.get("messages") else {}),
        "target": sample.get("target"),
        "metadata": fields(sample, "metadata"),
        **scores_of(scores, chosen["name"] if chosen else None),
        **({} if ended in USUAL_ENDS else {"stop_reason": ended}),
        "termination_reason": f"{limit} limit" if limit else None,
        "error_message": error,
        "exception_type": _exception(error),
        "n_error_retries": len(items(sample, "error_retries")),
        "is_invalidated": sample.get("invalidation") is not None,
        "total_run_time": number(sample, "total_time") or _seconds(sample),
        "working_time": number(sample, "working_time"),
    }
    own = {"answer": "extracted_answer", "grade": "grade"}
    details = {named: chosen.pop(name) for name, named in own.items() if chosen and name in chosen}
    if chosen and _is_of_grader(details.get("extracted_answer"), chosen, output):
        del details["extracted_answer"]
    # Why it has no grade, before any limit that it reached.
    if chosen and not _is_graded(chosen):
        details["explanation"] = NO_GRADE
    # A scorer that found no answer writes an empty one; an attempt without words has none to find.
    answer = get(sample, "scores", chosen["name"], "answer") if chosen else None
    if answer == "" and any(_own_texts(output)):
        details["extracted_answer"] = ""
    return Row(
        {**value, **details},
        benchmark=log.task,
        # Samples are paired by their input, not by what a solver asked instead.
        question=sample["input"] if _asked_instead(sample) else None,
        limit_reached=limit,
        usual_end=ended if ended in USUAL_ENDS else None,
    )


def _is_graded(score: Object) -> bool:
    """Whether a judge gave the verdict; Inspect counts a 0 where its answer had none."""
    return not score.get("explanation", "").startswith(NO_GRADE)


def _is_of_grader(answer: str | None, score: Object, output: list[Object]) -> bool:
    """Whether an answer is the grader's own explanation, and in no words of the attempt."""
    if answer is None or answer != score.get("explanation"):
        return False
    return not any(answer in part for part in _own_texts(output))


def _own_texts(output: list[Object]) -> list[str]:
    return [part for one in output if get(one, "role") == "assistant" for part in _texts_of(one)]


def _own_events(sample: Object, log: Log) -> list[Any]:
    """The tool events, and those of the evaluated model; none of scorers and of other roles.

    A log without calls of the model that it names evaluates its roles: then all are read that are
    no grader's.
    """
    events = _solver_events(sample)
    own = [one for one in events if get(one, "event") == "tool" or _is_of_evaluated(one, log)]
    if any(get(one, "event") == "model" for one in own):
        return own
    return [one for one in events if get(one, "role") != "grader"]


def _solver_events(sample: Object) -> list[Any]:
    """The events of models and tools before anything is scored."""
    scoring: set[str | None] = set()
    depth = 0  # of steps, which older logs have for spans
    events = []
    for event in items(sample, "events"):
        kind = get(event, "event")
        if kind == "span_begin":
            is_scorer = get(event, "type") in SCORING or text(event, "parent_id") in scoring
            scoring |= {text(event, "id")} - {None} if is_scorer else set()
        elif kind == "step" and (depth or get(event, "type") in SCORING):
            depth += 1 if get(event, "action") == "begin" else -1
        elif kind in ("model", "tool") and not depth and text(event, "span_id") not in scoring:
            events.append(event)
    return events


def _is_of_evaluated(event: Any, log: Log) -> bool:
    named = text(event, "model")
    is_model = not named or not log.model or short(named) == short(log.model)
    return is_model and not text(event, "role")


def _is_of_other(answered: Any, log: Log) -> bool:
    return text(answered, "model") in log.others


def _stop_reason(sample: Object, log: Log) -> str | None:
    """Why the model stopped last; None if Inspect recorded `unknown`.

    Where its output does not say so, the last call of any model whose answer is a message does,
    else the last call of the evaluated model.
    """
    answers = [one for one in items(sample, "messages") if get(one, "role") == "assistant"]
    turns = {name for answer in answers for name in _ids(answer)}
    calls = [one for one in _solver_events(sample) if get(one, "event") == "model"]
    answered = [
        one
        for one in calls
        if not turns.isdisjoint(_ids(get(one, "output", "choices", 0, "message")))
    ]
    own = [one for one in _own_events(sample, log) if get(one, "event") == "model"]
    if answers and not any(_is_of_evaluated(one, log) for one in own):
        own = []
    outputs = [get(answered or own, -1, "output")]
    if not _is_of_other(sample.get("output"), log):
        outputs.insert(0, sample.get("output"))
    reasons = map(_reason, outputs)
    return next((reason for reason in reasons if reason and reason != "unknown"), None)


def _ids(answer: Any) -> set[str]:
    of_calls = (text(one, "id") for one in items(answer, "tool_calls"))
    return {name for name in (text(answer, "id"), *of_calls) if name}


def _reason(output: Any) -> str | None:
    return text(output, "choices", 0, "stop_reason")


def _seconds(sample: Object) -> float | None:
    times = [get(one, "timestamp") for one in items(sample, "events")]
    try:
        first, last = (datetime.fromisoformat(times[place]) for place in (0, -1))
        return (last - first).total_seconds()
    except (IndexError, TypeError, ValueError):
        return None


def _chosen(scores: list[Object], names: tuple[str, ...]) -> Object | None:
    """The score that is the reward; where the log names none, the first."""
    by_name = {score["name"]: score for score in reversed(scores)}
    wanted = [by_name[name] for name in names if name in by_name]
    return next(iter(wanted or ([] if names else scores)), None)


def _scores(sample: Object, log: Log) -> list[Object]:
    """Every score as a number, one for each value of a scorer that gives several.

    The oldest samples have one score, which only the log names.
    """
    scores = fields(sample, "scores")
    if not scores and isinstance(sample.get("score"), dict):
        scores = {log.scores[0] if log.scores else "score": sample["score"]}
    listed = []
    for name, score in scores.items():
        value = get(score, "value")
        parts = value.items() if isinstance(value, dict) else [(None, value)]
        for key, part in parts:
            details = {
                "explanation": text(score, "explanation"),
                "answer": text(score, "answer"),
            }
            number_ = _number(part)
            named = {"name": name if key is None else f"{name}.{key}", "score": number_}
            # A word that is no number, such as a category.
            word = {"grade": text(part)} if number_ is None else {}
            listed.append(named | without_empty(details | word))
    return listed


def _number(value: Any) -> float | None:
    letter = value.strip().lower() if isinstance(value, str) else None
    return LETTERS[letter] if letter in LETTERS else number(value)


def _exception(error: str | None) -> str | None:
    match = re.match(r"([A-Za-z_]\w*)\s*[(:]", error or "")
    return match[1] if match else None


def _usage(sample: Object, log: Log) -> Object | None:
    usage = fields(sample, "model_usage")
    every = {name: one for name, one in usage.items() if name not in log.others}
    used = every.get(log.model or "") or (next(iter(every.values())) if len(every) == 1 else None)
    if not isinstance(used, dict):
        return None
    total_input = sum(number(used, name) or 0 for name in COUNTED)
    rest = (number(used, "total_tokens") or 0) - total_input
    # Some writers give the total and leave the output at 0.
    output = rest if used.get("output_tokens") == 0 and rest > 0 else used.get("output_tokens")
    # Cached input is input; where it is counted apart, the total has room for it.
    is_apart = rest >= (number(output) or 0) and used.get("input_tokens") is not None
    tokens = {
        "input_tokens": total_input if is_apart else used.get("input_tokens"),
        "output_tokens": output,
    }
    return without_empty({**used, **tokens, "cost": used.get("total_cost")})


def _question(sample: Object, attachments: Object) -> list[Object]:
    first = get(sample, "messages", 0)
    system = [first] if get(first, "role") == "system" else []
    sample_input = sample.get("input")
    messages = (
        sample_input
        if isinstance(sample_input, list)
        else [_asked_instead(sample) or {"role": "user", "content": sample_input}]
    )
    if any(get(one, "role") == "system" for one in messages):
        system = []
    question = [
        message(_content(get(one, "content"), attachments), text(one, "role") or "user")
        for one in [*system, *messages]
    ]
    choices = [text(one) or "" for one in items(sample, "choices")]
    if choices:
        listed = "\n".join(f"{chr(65 + place)}) {one}" for place, one in enumerate(choices))
        question.append(message(listed, "user"))
    return question


def _asked_instead(sample: Object) -> Object | None:
    """The first user message, where a solver asked something else than the input, as of a dummy.

    It may have written that into the message of the input, whose source is the same then.
    """
    sample_input = sample.get("input")
    messages = items(sample, "messages")
    questions = [one for one in messages if get(one, "role") == "user"]
    begun = [get(one, "role") for one in messages if get(one, "role") != "system"]
    if not isinstance(sample_input, str) or begun[:1] != ["user"]:
        return None
    attachments = fields(sample, "attachments")
    content = _content(get(questions[0], "content"), attachments)
    words = " ".join(" ".join(_texts_of({"content": content})).split())
    is_asked = " ".join(_attached(sample_input, attachments).split()) in words
    return None if is_asked or not words else fields(questions[0])


def _texts_of(one: Any) -> list[str]:
    content = get(one, "content")
    parts = content if isinstance(content, list) else [content]
    return [text(get(part, "text") or part) or "" for part in parts]


def _output(sample: Object, attachments: Object, log: Log) -> list[Object]:
    """The messages after the question; from the events if the messages have no answer.

    If the events have none either, the answer is the output of the sample. User messages that a
    solver added come after the question; what another role's model wrote is no turn of the attempt.
    """
    messages = [
        {**one, "role": "user"} if _is_of_other(one, log) else one
        for one in items(sample, "messages")
    ]
    sample_input = sample.get("input")
    n_users = (
        sum(get(one, "role") == "user" for one in sample_input)
        if isinstance(sample_input, list)
        else 1
    )
    place = 0
    for one in messages:
        role = get(one, "role")
        n_users -= role == "user"
        if get(one, "source") != "input" and role != "system" and (role != "user" or n_users < 0):
            break
        place += 1
    if not _has_answer(messages[place:], log):
        messages, place = [*messages[place:], *_from_events(sample, log)], 0
        completion = get(sample, "output", "completion")
        is_own = not _is_of_other(sample.get("output"), log)
        if completion and is_own and not _has_answer(messages, log):
            messages.append({"role": "assistant", "content": completion})
    return _within_size(item for one in messages[place:] for item in turn_items(one, attachments))


def _within_size(turns: Iterable[Object]) -> list[Object]:
    """All items; images and sounds of tool results only up to a size in all.

    Screenshots of every step would be most of a warehouse.
    """
    n_left, every = MOST_MEDIA, []
    for item in turns:
        if item["type"] == "function_call_output" and "content" in item:
            size = sum(
                len(part[name]) for part in item["content"] for name in MEDIA if name in part
            )
            n_left -= size
            if n_left < 0:
                item = {name: value for name, value in item.items() if name != "content"}
        every.append(item)
    return every


def _from_events(sample: Object, log: Log) -> Iterator[Any]:
    for event in _own_events(sample, log):
        kind = get(event, "event")
        if kind == "model" and (answer := get(event, "output", "choices", 0, "message")):
            yield answer
        elif kind == "tool":
            answered = {"content": get(event, "result"), "error": get(event, "error")}
            yield {"role": "tool", "tool_call_id": get(event, "id"), **answered}


def turn_items(turn: Any, attachments: Object) -> Iterator[Object]:
    """A message, its reasoning and its calls, which EvalScope writes as OpenAI does."""
    role = get(turn, "role")
    content = _content(get(turn, "content"), attachments)
    if role == "tool":
        answer = result(_answer(content, get(turn, "error")), get(turn, "tool_call_id"))
        media = [part for part in items(content) if {*MEDIA} & fields(part).keys()]
        yield answer | ({"content": media} if media else {})
        return
    parts = content if isinstance(content, list) else [content]
    thoughts = [get(part, "reasoning") for part in parts if get(part, "type") == "reasoning"]
    if thought := "\n\n".join(one for one in thoughts if isinstance(one, str)):
        yield {"type": "reasoning", "summary": [{"type": "summary_text", "text": thought}]}
    waiting: list[Any] = []
    for part in parts:
        if get(part, "type") == "tool_use":
            # A tool that the server of the model ran: call and result are one part.
            yield from _message(waiting, role)
            waiting = []
            yield call(get(part, "name"), get(part, "arguments"), get(part, "id"))
            yield result(_answer(get(part, "result"), get(part, "error")), get(part, "id"))
        elif get(part, "type") != "reasoning" and part:
            waiting.append(part)
    calls = items(turn, "tool_calls")
    content = waiting if isinstance(content, list) else content
    has_calls = bool(calls) or any(get(part, "type") == "tool_use" for part in parts)
    # A message of the model without words and calls is an empty answer.
    is_empty = not content and not has_calls and role == "assistant"
    yield from [message("")] if is_empty else _message(content, role)
    for one in calls:
        function = get(one, "function")
        arguments = get(function, "arguments") or get(one, "arguments")
        yield call(get(function, "name") or function, arguments, get(one, "id"))


def _message(content: Any, role: Any) -> Iterator[Object]:
    if content:
        yield message(content, text(role) or "assistant")


def _answer(content: Any, error: Any) -> str:
    """The result of a tool; errors as JSON, which is recognised as an error."""
    output = content if isinstance(content, str) else as_json(_without_media(content))
    if isinstance(content, list) and all(get(part, "type") == "text" for part in content):
        output = "".join(text(part, "text") or "" for part in content)
    if error is None:
        return output
    kind, reason = text(error, "type"), text(error, "message") or text(error)
    whole = {"error": ": ".join(part for part in (kind, reason) if part) or "error"}
    return as_json(whole | ({"output": output} if content else {}))


def _content(content: Any, attachments: Object) -> Any:
    """Text or parts, with attachments inserted; images that are no data are only named."""
    if isinstance(content, list):
        return [_part(part, attachments) for part in content]
    return _attached(content, attachments)


def _part(part: Any, attachments: Object) -> Object:
    kind = text(part, "type") or "part"
    if kind == "tool_use":
        called = picked(part, "id", "name", "arguments", "error")
        return {"type": kind, **called, "result": _attached(get(part, "result"), attachments)}
    if kind == "reasoning" and get(part, "redacted") is True:
        summary = _attached(get(part, "summary"), attachments)
        return {"type": kind, kind: "\n\n".join(filter(None, (summary, REDACTED)))}
    for name in ("reasoning", "text"):
        if isinstance(get(part, name), str):
            return {"type": kind, name: _attached(part[name], attachments)}
    for name in MEDIA:
        address = _attached(get(part, name), attachments)
        if address.startswith("data:") and len(address) <= LONGEST_MEDIA:
            return {"type": kind, "text": f"[{kind}]", name: address}
    return {"type": kind}


def _without_media(content: Any) -> Any:
    """What a tool answered; its images and sounds are kept apart from its text."""
    if not isinstance(content, list):
        return content
    return [
        {"type": get(part, "type")} if {*MEDIA} & fields(part).keys() else part for part in content
    ]


def _attached(value: Any, attachments: Object) -> str:
    written = value if isinstance(value, str) else ""
    if written.startswith("attachment://"):
        return text(attachments, written.removeprefix("attachment://")) or written
    return written
