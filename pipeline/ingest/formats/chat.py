"""Convert chat messages to output items: reasoning, messages, tool calls and results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import (
    Object,
    call,
    fields,
    get,
    items,
    message,
    parsed,
    result,
    text,
)


def chat(messages: Any, role_of_text: str = "assistant") -> Iterator[Object]:
    """Items of a list of messages, which may be JSON text; any other text is one message.

    Results without a call id belong to the calls in order.
    """
    listed = listed_messages(messages)
    if isinstance(messages, str) and not listed:
        yield message(messages, role_of_text)
    waiting: list[Any] = []
    for one in listed:
        role = text(one, "role") or "assistant"
        body = words(get(one, "content"))
        if role == "tool":
            answered = text(one, "tool_call_id") or next(iter(waiting), None)
            waiting = [call_id for call_id in waiting if call_id != answered]
            yield result(body, answered)
            continue
        if thought := text(one, "reasoning_content"):
            yield {"type": "reasoning", "content": thought}
        calls = items(one, "tool_calls") or _only_call(one)
        # A message of the model without words and calls is an empty answer.
        if body or (not calls and get(one, "role") == "assistant"):
            yield message(_with_media(body, get(one, "content")), role)
        for tool_call in calls:
            try:
                content = parsed(tool_call) if isinstance(tool_call, str) else tool_call
            except ValueError:
                content = {"name": "", "arguments": tool_call}
            function = fields(content, "function") or fields(content)
            waiting.append(get(content, "id"))
            yield call(function.get("name"), function.get("arguments"), get(content, "id"))


def _only_call(one: Any) -> list[Object]:
    """The one call of a message, which some agents and older APIs keep outside a list."""
    calls = (fields(one, name) for name in ("tool_call", "function_call"))
    return [each for each in calls if each][:1]


def _with_media(body: str, content: Any) -> Any:
    """The words of a message, and parts without words that hold images or sounds."""
    parts = [
        {"type": get(part, "type"), "text": "", name: get(part, name)}
        for part in items(content)
        for name in ("image_url", "input_audio")
        if get(part, name)
    ]
    return [{"type": "text", "text": body}, *parts] if parts else body


def listed_messages(messages: Any) -> list[Any]:
    """A list of messages; one that is JSON text has roles, unlike an answer that is JSON."""
    listed = items(messages)
    is_listed = isinstance(messages, list) or all("role" in one for one in listed)
    return listed if is_listed else []


def words(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = [text(part, "text") or f"[{get(part, 'type')}]" for part in items(content)]
    return "\n".join(parts)
