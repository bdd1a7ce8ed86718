"""Spoils a serialised rollout in the ways real files are spoilt."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

from simulator.phrases import dumps


def spoil(rng: random.Random, line: bytes) -> bytes:
    """The row, made irregular in one way drawn from KINDS."""
    return KINDS[rng.randrange(len(KINDS))](line)


def bad_json(line: bytes) -> bytes:
    """Cut off where a killed writer stopped."""
    return line[: len(line) * 2 // 3]


def bad_utf8(line: bytes) -> bytes:
    """A byte that no UTF-8 text holds, inside a string."""
    return line.replace(b'"role":"', b'"role":"\xff', 1)


def duplicate_key(line: bytes) -> bytes:
    """The reward given twice, the second time as the first."""
    return line[:-1] + b',"reward":0.0,"reward":1.0}'


def case_clash(line: bytes) -> bytes:
    """A key that differs from another only in case."""
    return line[:-1] + b',"Category":"Other"}'


def string_response(line: bytes) -> bytes:
    """The whole response as one string."""
    row = json.loads(line)
    row["response"] = "the endpoint returned plain text"
    return dumps(row).encode()


def nested_output(line: bytes) -> bytes:
    """Output items grouped in lists by turn."""
    row = json.loads(line)
    items = row["response"]["output"]
    row["response"]["output"] = [items[:2], *items[2:]]
    return dumps(row).encode()


KINDS: tuple[Callable[[bytes], bytes], ...] = (
    bad_json,
    bad_utf8,
    duplicate_key,
    case_clash,
    string_response,
    nested_output,
)
