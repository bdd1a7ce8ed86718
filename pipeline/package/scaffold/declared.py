"""The tools that requests declare, from the first rows of each rollout file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

CODECS = {".gz": "gzip", ".zst": "zstd"}
MOST_BYTES = 8 << 20
MOST_ROWS = 200


@dataclass(frozen=True)
class Tool:
    """A tool as requests declare it."""

    name: str
    description: str
    parameters: tuple[str, ...]


@dataclass(frozen=True)
class Declared:
    """The tools of the rows looked at, by name, and how many rows those were."""

    tools: tuple[Tool, ...]
    n_rows: int


def declared(files: Sequence[Path]) -> Declared:
    """What the first rows declare; of a name declared twice the first counts."""
    tools: dict[str, Tool] = {}
    n_rows = 0
    for path in files:
        for row in _rows(path):
            n_rows += 1
            for tool in _tools(row):
                tools.setdefault(tool.name, tool)
    return Declared(tuple(tools[name] for name in sorted(tools)), n_rows)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """The objects among the first lines; a line that was cut is none."""
    for line in _beginning(path).split(b"\n")[:MOST_ROWS]:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            yield row


def _beginning(path: Path) -> bytes:
    try:
        with pa.OSFile(os.fsencode(path)) as raw:
            codec = CODECS.get(path.suffix.lower())
            stream = pa.CompressedInputStream(raw, codec) if codec else raw
            return bytes(stream.read(MOST_BYTES))
    except OSError:
        return b""


def _tools(row: dict[str, Any]) -> Iterator[Tool]:
    request = row.get("responses_create_params")
    listed = request.get("tools") if isinstance(request, dict) else None
    for item in listed if isinstance(listed, list) else ():
        if not isinstance(item, dict):
            continue
        inner = item.get("function")
        tool = inner if isinstance(inner, dict) else item
        name = tool.get("name")
        if isinstance(name, str) and name:
            told = tool.get("description")
            yield Tool(name, told if isinstance(told, str) else "", _parameters(tool))


def _parameters(tool: dict[str, Any]) -> tuple[str, ...]:
    schema = tool.get("parameters")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return tuple(map(str, properties)) if isinstance(properties, dict) else ()
