"""All that is planted goes, nothing else changes, and a second call finds nothing."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.package.sanitize import share
from pipeline.package.sanitize.detect import PLACEHOLDER
from pipeline.package.sanitize.placeholders import Placeholders, by_kind
from pipeline.package.sanitize.share import _sanitized
from tests.planted_secrets import EDGES, POLICY, passage, plant, strings, value, written

seeds = st.integers(min_value=0, max_value=2**32)


def clean(text: str) -> tuple[str, dict[str, str]]:
    """A text without what must go, and what each placeholder replaces."""
    placeholders = Placeholders()
    content = _sanitized(text.encode(), 1, "file", POLICY, placeholders)
    meant = {entry.bare: secret for secret, entry in placeholders.by_secret.items()}
    return content.decode(), meant


def restored(text: str, meant: dict[str, str]) -> str:
    """Each placeholder as what it replaces."""
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


def check_folder(seed: int) -> None:
    """A whole call: screened lines, several files, the log, a check before and a call after."""
    rng = random.Random(seed)
    plants = [plant(rng) for _ in range(4)]
    with TemporaryDirectory() as folder:
        inputs, out, again = (Path(folder, name) for name in ("in", "out", "again"))
        inputs.mkdir()
        for name in ("a.md", "b.txt"):
            text = "".join(passage(rng, plants) + rng.choice(EDGES) for _ in range(20))
            (inputs / name).write_text(text, encoding="utf-8")
        for name in ("c.jsonl", "d.json"):
            rows = [written(value(rng, plants), rng) for _ in range(1 if name == "d.json" else 6)]
            (inputs / name).write_text("\n".join(rows) + "\n", encoding="utf-8")
        actual = share.check(share.survey([inputs], POLICY), POLICY)
        shared = share.rewrite([inputs], POLICY, out)
        assert by_kind(shared.entries) == by_kind(actual)
        assert {each.places[0][0] for each in actual} <= set(shared.changed)
        for path in out.iterdir():
            content = path.read_text(encoding="utf-8")
            seen = "\n".join((content, *(t for row in read_rows(content) for t in strings(row))))
            for each in plants:
                assert each.secret not in seen, (path.name, each)
            if path.name != "redactions.json":
                before = (inputs / path.name).read_text(encoding="utf-8")
                assert content.count("\n") == before.count("\n")
        assert share.check(share.survey([out], POLICY), POLICY) == []
        share.rewrite([out], POLICY, again)
        assert all((again / path.name).read_bytes() == path.read_bytes() for path in out.iterdir())


def read_rows(content: str) -> list[object]:
    """What of a file is JSON: all of it, or some of its lines."""
    rows = []
    for text in (content, *content.split("\n")):
        try:
            rows.append(json.loads(text))
        except ValueError:
            continue
    return rows


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


@settings(max_examples=40)
@given(seeds)
def test_prose_loses_its_secrets_and_nothing_else(seed: int) -> None:
    """No secret stays in a text, the rest is as it was, and a second call finds nothing."""
    check_prose(seed)


@settings(max_examples=40)
@given(seeds)
def test_rows_lose_their_secrets_and_nothing_else(seed: int) -> None:
    """The same of JSON, in values, keys, JSON within strings, and however it is escaped."""
    check_rows(seed)


@settings(max_examples=5)
@given(seeds)
def test_folders_lose_their_secrets(seed: int) -> None:
    """No secret stays in copies or log, a check finds as many, a second call finds nothing."""
    check_folder(seed)
