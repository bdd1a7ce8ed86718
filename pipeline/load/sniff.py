"""What the first rows of large files tell, so that the rest is read faster; never what is kept."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pipeline.artifact import Artifact
from pipeline.formats import gym
from pipeline.load.lines import FileTally, read_blocks

# Smaller files are read the general way: a look ahead would cost more than it saves.
LARGE_FILE = 8 << 20
SNIFFED_ROWS = 20
MOST_FIELDS = 200
LIGHT_SHARE = 0.25


@dataclass(frozen=True)
class Sniffed:
    """The fields a file's rows have beyond the format's own, and whether their output is small."""

    fields: frozenset[str] = frozenset()
    is_light: bool = True


def sniff(artifact: Artifact) -> Sniffed:
    """Look at the first rows of a large file; of any other, nothing is known."""
    if artifact.path.stat().st_size < LARGE_FILE:
        return Sniffed()
    rows = _first_rows(artifact)
    fields = {name for _, row in rows for name in row if name not in gym.OWNED_FIELDS}
    sizes = [(size, len(json.dumps(row.get("response")))) for size, row in rows]
    output_share = sum(size for _, size in sizes) / max(1, sum(size for size, _ in sizes))
    is_familiar = all(_is_familiar(row) for _, row in rows)
    return Sniffed(frozenset(fields), is_familiar and output_share < LIGHT_SHARE)


def known_fields(sniffed: list[Sniffed]) -> list[str]:
    """Fields of all the files; names that differ only in case, or are none, make no struct."""
    found = {name for each in sniffed for name in each.fields}
    names = sorted(name for name in found if name and not gym.LONE_SURROGATE.search(name))
    folded = [name.casefold() for name in (*gym.OWNED_FIELDS, *names)]
    return [name for name in names if folded.count(name.casefold()) == 1][:MOST_FIELDS]


def _first_rows(artifact: Artifact) -> list[tuple[int, dict[str, Any]]]:
    for buffer, start, end in read_blocks(artifact, FileTally(), room=lambda: 0):
        lines = bytes(memoryview(buffer)[start:end]).split(b"\n", SNIFFED_ROWS)[:-1]
        return [(len(line), row) for line in lines if (row := _object(line)) is not None]
    return []


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _is_familiar(row: dict[str, Any]) -> bool:
    """No item of a type that is kept as JSON: for those the whole line is needed again."""
    response = row.get("response")
    items = response.get("output") if isinstance(response, dict) else None
    return isinstance(items, list) and all(
        isinstance(item, dict) and item.get("type") in gym.EVENT_KINDS for item in items
    )
