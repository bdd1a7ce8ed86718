"""The Model Context Protocol over stdio: tools and resources for an agent, one line per message.

The protocol's own SDK takes longer to import than blade takes to answer.
"""

from __future__ import annotations

import inspect
import json
import sys
import threading
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any

Message = dict[str, Any]
# From the newest; a client that asks for another gets the first and decides.
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
TYPES = {int: "integer", str: "string", bool: "boolean"}
METHOD_NOT_FOUND, INVALID_PARAMS = -32601, -32602
UNREADABLE = "The request is not UTF-8 text, or not valid JSON-RPC."


class AnswerError(Exception):
    """A message for the agent: what is wrong with its call, and what to do."""


@dataclass(frozen=True)
class Server:
    """Tools by name and resources by address; a tool's signature and docstring describe it."""

    name: str
    version: str
    instructions: str
    tools: Mapping[str, Callable[..., str]]
    # Lists the addresses with their names and descriptions, and reads one.
    resources: Callable[[], list[Message]]
    templates: tuple[Message, ...]
    read_resource: Callable[[str], str]
    # Tools that change something.
    writers: tuple[str, ...] = ()

    def answer(self, message: Message) -> Message | None:
        """The response to a request; None to a notification."""
        number, method = message.get("id"), message.get("method")
        if number is None or not isinstance(method, str):
            return None
        response: Message = {"jsonrpc": "2.0", "id": number}
        params = message.get("params") or {}
        try:
            return response | {"result": self._result(method, params)}
        except AnswerError as error:
            return response | {"error": {"code": INVALID_PARAMS, "message": str(error)}}
        except NotImplementedError:
            text = f"Method not found: {method[:80]}"
            return response | {"error": {"code": METHOD_NOT_FOUND, "message": text}}

    def _result(self, method: str, params: Message) -> Message:
        if method == "initialize":
            version = params.get("protocolVersion")
            return {
                "protocolVersion": version if version in VERSIONS else VERSIONS[0],
                "capabilities": {"tools": {}, "resources": {}},
                "serverInfo": {"name": self.name, "version": self.version},
                "instructions": self.instructions,
            }
        if method == "ping":
            return {}
        if method == "tools/list":
            return {"tools": [self._described(name) for name in self.tools]}
        if method == "tools/call":
            return self._called(params)
        if method == "resources/list":
            return {"resources": self.resources()}
        if method == "resources/templates/list":
            return {"resourceTemplates": list(self.templates)}
        if method == "resources/read":
            uri = str(params.get("uri"))
            text = self.read_resource(uri)
            return {"contents": [{"uri": uri, "mimeType": "text/markdown", "text": text}]}
        raise NotImplementedError

    def _described(self, name: str) -> Message:
        tool = self.tools[name]
        hints = {"readOnlyHint": name not in self.writers, "openWorldHint": False}
        return {
            "name": name,
            "description": inspect.getdoc(tool),
            "inputSchema": schema(tool),
            "annotations": hints,
        }

    def _called(self, params: Message) -> Message:
        try:
            tool = self.tools.get(str(params.get("name")))
            if tool is None:
                raise AnswerError(f"Unknown tool. Tools: {', '.join(self.tools)}")
            text, is_error = tool(**arguments(tool, params.get("arguments") or {})), False
        except AnswerError as error:
            text, is_error = str(error), True
        return {"content": [{"type": "text", "text": text}], "isError": is_error}


def schema(tool: Callable[..., Any]) -> Message:
    """The JSON schema of a tool's arguments."""
    properties: Message = {}
    hints = typing.get_type_hints(tool)
    parameters = inspect.signature(tool).parameters.values()
    for each in parameters:
        hint = hints[each.name]
        if typing.get_origin(hint) is typing.Literal:
            properties[each.name] = {"enum": list(typing.get_args(hint))}
        elif typing.get_origin(hint) is list:
            properties[each.name] = {"type": "array", "items": {"type": "string"}}
        else:
            properties[each.name] = {"type": TYPES[hint]}
        if each.default is not each.empty:
            properties[each.name]["default"] = each.default
    required = [each.name for each in parameters if each.default is each.empty]
    return {"type": "object", "properties": properties, "required": required}


def arguments(tool: Callable[..., Any], values: Any) -> Message:
    """The arguments of a call, as the tool takes them; AnswerError where one is wrong."""
    described = schema(tool)
    known = described["properties"]
    values = values if isinstance(values, dict) else {}
    checked: Message = {}
    for name, value in values.items():
        if name not in known:
            raise AnswerError(f"No such argument: {name[:80]}. Arguments: {', '.join(known)}")
        if value is not None:
            checked[name] = _checked(name, value, known[name])
    for name in described["required"]:
        if name not in checked:
            raise AnswerError(f"Field required: {name}")
    return checked


def _checked(name: str, value: Any, wanted: Message) -> Any:
    kind = wanted.get("type")
    if kind == "array":
        value = [value] if isinstance(value, str) else value
        is_right = isinstance(value, list) and all(isinstance(each, str) for each in value)
    elif kind == "integer":
        # Some agents write numbers as texts.
        text = str(value).removesuffix(".0")
        is_right = not isinstance(value, bool) and text.lstrip("-").isdecimal() and len(text) < 19
        value = int(text) if is_right else value
    elif kind == "boolean":
        is_right = isinstance(value, bool)
    elif kind == "string":
        value = str(value) if type(value) is int else value
        is_right = isinstance(value, str)
    else:
        is_right = value in wanted["enum"]
    if not is_right:
        raise AnswerError(f"{name}: not {kind or wanted['enum']}.")
    return value


def serve(server: Server, *, grace_seconds: float) -> None:
    """Answer lines of stdin on stdout until the input ends and open calls are answered."""
    lock = threading.Lock()
    open_calls: set[Any] = set()

    def send(response: Message | None) -> None:
        if response is None:
            return
        line = json.dumps(response, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        with lock:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()

    def call(message: Message) -> None:
        try:
            response = server.answer(message)
            # A call that was cancelled is never answered.
            if message["id"] in open_calls:
                send(response)
        except OSError:
            pass  # the client has closed the pipe
        finally:
            open_calls.discard(message["id"])

    for line in sys.stdin.buffer:
        message = _read(line)
        if message is None:
            continue
        if "error" in message:
            send(message)
        elif message.get("method") == "notifications/cancelled":
            open_calls.discard((message.get("params") or {}).get("requestId"))
        elif message.get("method") in ("tools/call", "resources/read") and "id" in message:
            open_calls.add(message["id"])
            threading.Thread(target=call, args=(message,), daemon=True).start()
        else:
            send(server.answer(message))
    end = monotonic() + grace_seconds
    while open_calls and monotonic() < end:
        sleep(0.01)


def _read(line: bytes) -> Message | None:
    """The message of a line; an error response where it is no text; None if its id is unknown."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or not isinstance(message.get("id", 0), (int, str)):
        return None
    message.pop("error", None)
    try:
        json.dumps(message, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        number = message.get("id")
        number = number.encode("utf-8", "replace").decode() if isinstance(number, str) else number
        error = {"code": INVALID_PARAMS, "message": UNREADABLE}
        return {"jsonrpc": "2.0", "id": number, "error": error}
    return message
