"""Whatever is planted, nothing of it stays, nothing else changes, and a second call finds nothing."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.package import sanitize
from pipeline.package.sanitize.documents import document_spans
from pipeline.package.sanitize.ledger import Ledger
from pipeline.package.sanitize.rewrite import Block, sanitized
from pipeline.package.sanitize.values import PLACEHOLDER
from tests.planted_secrets import EDGES, POLICY, Plant, passage, plant, strings, value, written

seeds = st.integers(min_value=0, max_value=2**32)


def clean(text: str) -> tuple[str, dict[str, str]]:
    """A text without what must go, and what each placeholder stands for."""
    ledger = Ledger()
    content = sanitized(Block(1, text.encode(), True, ()), "file", POLICY, ledger)
    meant = {entry.bare: secret for secret, entry in ledger.by_secret.items()}
    return content.decode(), meant


def restored(text: str, meant: dict[str, str]) -> str:
    """Each placeholder as what it stands for."""
    return PLACEHOLDER.sub(lambda match: meant[match[0].strip("[]")], text)


def restored_value(value: object, meant: dict[str, str]) -> object:
    if isinstance(value, str):
        return restored(value, meant)
    if isinstance(value, list):
        return [restored_value(item, meant) for item in value]
    return value


def check_prose(seed: int) -> None:
    rng = random.Random(seed)
    plants = [plant(rng) for _ in range(3)]
    text = "".join(passage(rng, plants) + rng.choice(EDGES) for _ in range(4))
    output, meant = clean(text)
    for each in plants:
        assert each.secret not in output, (each, text, output)
    assert output.count("\n") == text.count("\n")
    # The line breaks of a secret stand behind its placeholder.
    short = re.sub(r"(\[redacted-key-\d+\])\n+", lambda m: m[1] + m[0][len(m[1]) :], output)
    for name, secret in meant.items():
        short = short.replace(f"[{name}]" + "\n" * secret.count("\n"), f"[{name}]")
    assert restored(short, meant) == text, (restored(short, meant), text)
    assert clean(output) == (output, {})


def check_rows(seed: int) -> None:
    rng = random.Random(seed)
    plants = [plant(rng) for _ in range(3)]
    row = {"id": 1, "body": value(rng, plants), "more": value(rng, plants)}
    line = written(row, rng)
    output, meant = clean(line)
    after = json.loads(output)
    seen = "\n".join((output, *strings(after)))
    for each in plants:
        assert each.secret not in seen, (each, line, output)
    assert restored_value(unescaped(after), meant) == unescaped(json.loads(line)), (line, output)
    untouched = [token for token in tokens(output) if "redacted-" not in token]
    assert is_subsequence(untouched, tokens(line))
    assert clean(output) == (output, {})


def unescaped(value: object) -> object:
    """With JSON in texts read, so that how it is escaped does not matter."""
    if isinstance(value, str):
        try:
            inner = json.loads(value, strict=False)
        except ValueError:
            return value
        return ["JSON", unescaped(inner)] if isinstance(inner, (dict, list, str)) else value
    if isinstance(value, list):
        return [unescaped(item) for item in value]
    if isinstance(value, dict):
        return [[unescaped(k), unescaped(v)] for k, v in value.items()]
    return value


def tokens(text: str) -> list[str]:
    return re.findall(r'"(?:[^"\\]|\\.)*"|[^"]+', text)


def is_subsequence(part: list[str], whole: list[str]) -> bool:
    rest = iter(whole)
    return all(token in rest for token in part)


@settings(max_examples=60)
@given(seeds)
def test_prose_loses_its_secrets_and_nothing_else(seed: int) -> None:
    """No secret stays in a text, the rest is as it was, and a second call finds nothing."""
    check_prose(seed)


@settings(max_examples=60)
@given(seeds)
def test_rows_lose_their_secrets_and_nothing_else(seed: int) -> None:
    """The same of JSON, in values, keys, JSON within strings, and however it is escaped."""
    check_rows(seed)


@pytest.mark.slow
@settings(max_examples=3000)
@given(seeds)
def test_much_prose(seed: int) -> None:
    """The same of very many texts."""
    check_prose(seed)


@pytest.mark.slow
@settings(max_examples=3000)
@given(seeds)
def test_many_rows(seed: int) -> None:
    """The same of very many rows."""
    check_rows(seed)
