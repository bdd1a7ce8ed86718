"""Chat messages as items of an output: what was thought and said, tool calls, and their results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pipeline.ingest.formats import call, fields, get, items, message, parsed, result, text


def chat(messages: Any, role_of_text: str = "assistant") -> Iterator[dict[str, Any]]:
    """Items of a list of messages; a text alone is one message.

    Results that do not say which call they answer are of the calls in their order.
    """
    if isinstance(messages, str):
        yield message(messages, role_of_text)
    waiting: list[Any] = []
    for one in items(messages):
        role = text(get(one, "role")) or "assistant"
        words = _words(get(one, "content"))
        if role == "tool":
            answered = text(get(one, "tool_call_id")) or next(iter(waiting), None)
            waiting = [call_id for call_id in waiting if call_id != answered]
            yield result(words, answered)
            continue
        if thought := text(get(one, "reasoning_content")):
            yield {"type": "reasoning", "content": thought}
        if words:
            yield message(words, role)
        for given in items(get(one, "tool_calls")):
            try:
                made = parsed(given) if isinstance(given, str) else given
            except ValueError:
                made = {"name": "", "arguments": given}
            asked = fields(get(made, "function")) or fields(made)
            waiting.append(get(made, "id"))
            yield call(asked.get("name"), asked.get("arguments"), get(made, "id"))


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = [text(get(part, "text")) or f"[{get(part, 'type')}]" for part in items(content)]
    return "\n".join(parts)
