"""What the first rows of large files tell, so that the rest is read faster; never what is kept."""

from __future__ import annotations

import json

from pipeline.artifact import Artifact
from pipeline.ingest.formats import gym
from pipeline.ingest.load.lines import FileTally, read_blocks

# Smaller files are read the general way: a look ahead would cost more than it saves.
LARGE_FILE = 8 << 20
SNIFFED_ROWS = 20
MOST_FIELDS = 200


def known_fields(artifacts: list[Artifact]) -> list[str]:
    """Fields beyond the format's own that large files begin with.

    Names that differ only in case, or are none, make no struct and are left out.
    """
    found = {name for artifact in artifacts for name in _first_fields(artifact)}
    names = sorted(name for name in found if name and not gym.LONE_SURROGATE.search(name))
    folded = [name.casefold() for name in (*gym.OWNED_FIELDS, *names)]
    return [name for name in names if folded.count(name.casefold()) == 1][:MOST_FIELDS]


def _first_fields(artifact: Artifact) -> set[str]:
    if artifact.path.stat().st_size < LARGE_FILE:
        return set()
    lines: list[bytes] = []
    for buffer, start, end in read_blocks(artifact, FileTally(), room=lambda: 0):
        lines = bytes(memoryview(buffer)[start:end]).split(b"\n", SNIFFED_ROWS)[:-1]
        break
    return {name for line in lines for name in _keys(line)} - set(gym.OWNED_FIELDS)


def _keys(line: bytes) -> list[str]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return []
    return list(row) if isinstance(row, dict) else []
