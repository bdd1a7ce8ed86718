"""Whole fields of JSON that the policy lists: private source, and data not cleared for sharing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from pipeline.package.sanitize import json_text
from pipeline.package.sanitize.values import PLACEHOLDER, Policy, Span

Path = tuple[str, ...]
TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\],:]|[^\s"{}\[\],:]++', re.DOTALL)
ITEM = "*"
ANYWHERE = "**"


@dataclass(frozen=True)
class Value:
    """A value of a document: where it stands, and the way down to it."""

    start: int
    end: int
    path: Path


@dataclass
class _Open:
    """An object or a list that has begun: where, and how far it is read."""

    start: int
    is_object: bool
    key: str = ""
    n_items: int = 0


@lru_cache(maxsize=64)
def _wanted(policy: Policy) -> tuple[tuple[Path, str, str], ...]:
    listed = (
        (policy.source_fields, "source", "source-field"),
        (policy.withheld_fields, "data", "withheld-field"),
    )
    return tuple(
        (tuple(path.split(".")), kind, rule)
        for paths, kind, rule in listed
        if rule not in policy.off
        for path in paths
    )


def spans(text: str, policy: Policy) -> list[Span]:
    """The values of listed fields, whole; null and what is empty tells nothing and stays."""
    wanted = _wanted(policy)
    return list(_below(text, (), wanted)) if wanted and _may_hold(text, wanted) else []


def _may_hold(text: str, wanted: tuple[tuple[Path, str, str], ...]) -> bool:
    """Whether the last name of any path is there at all: most lines need not be taken apart."""
    for path, _, _ in wanted:
        named = [part for part in path if part not in (ITEM, ANYWHERE)]
        if not named or json.dumps(named[-1])[1:-1] in text or "\\u" in text or named[-1] in text:
            return json_text.is_json(text)
    return False


def _below(text: str, above: Path, wanted: tuple[tuple[Path, str, str], ...]) -> Iterator[Span]:
    for value in values(text, above):
        raw = text[value.start : value.end]
        hit = next((w for w in wanted if matches(value.path, w[0])), None)
        is_string = raw[0] == '"'
        if hit is None:
            if is_string and raw[1:2] in ("{", "[", "\\") and len(raw) > 4:
                yield from _inside(raw, value, wanted)
        elif is_string:
            inner = json_text.said(raw[1:-1])
            if inner and not PLACEHOLDER.fullmatch(inner):
                yield Span(value.start + 1, value.end - 1, *hit[1:], inner)
        elif raw not in ("null", "{}", "[]"):
            yield Span(value.start, value.end, *hit[1:], raw, quote='"')


def _inside(raw: str, value: Value, wanted: tuple[tuple[Path, str, str], ...]) -> Iterator[Span]:
    """JSON in a string, as calls have their arguments: its fields lie below the string's."""
    if json_text.is_json(json_text.said(raw[1:-1])):
        read = json_text.decoded(raw[1:-1])
        for span in _below(read.text, value.path, wanted):
            yield json_text.outward(span, read, value.start + 1)


def matches(path: Path, wanted: Path) -> bool:
    """Whether a listed path, with `*` for an item and `**` for any way down, leads here."""
    if not wanted:
        return not path
    if wanted[0] == ANYWHERE:
        return any(matches(path[n:], wanted[1:]) for n in range(len(path) + 1))
    is_step = bool(path) and (wanted[0] in (path[0], ITEM))
    return is_step and matches(path[1:], wanted[1:])


def values(text: str, above: Path) -> Iterator[Value]:
    """Every value of a JSON text with its path; the items of a list are numbered."""
    stack: list[_Open] = []
    is_key = False
    for match in TOKEN.finditer(text):
        token = match[0]
        if token == ":":
            is_key = False
        elif token == ",":
            is_key = stack[-1].is_object
            stack[-1].n_items += 1
        elif token in "}]":
            is_key = False
            yield Value(stack.pop().start, match.end(), _path(above, stack))
        elif is_key:
            stack[-1].key = json_text.said(token[1:-1])
        elif token in "{[":
            is_key = token == "{"
            stack.append(_Open(match.start(), is_object=is_key))
        else:
            yield Value(*match.span(), _path(above, stack))


def _path(above: Path, stack: list[_Open]) -> Path:
    return (*above, *(each.key if each.is_object else str(each.n_items) for each in stack))
