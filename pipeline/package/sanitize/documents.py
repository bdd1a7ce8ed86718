"""A line or a document -> what must go; inside JSON each string is read for what it says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from pipeline.package.sanitize import detect, fields
from pipeline.package.sanitize.detect import live, merged, spans
from pipeline.package.sanitize.json_text import decoded, is_json, outward, said
from pipeline.package.sanitize.rules import Rule
from pipeline.package.sanitize.screen import suspects
from pipeline.package.sanitize.tokens import KEY_WORDS, is_secret, lower
from pipeline.package.sanitize.values import PLACEHOLDER, Policy, Span

DEEPEST = 12
# Editors on Windows write it in front of a file; JSON knows none.
MARK = "\ufeff"
MANY = 200
LONG = 200
STRING = re.compile(r'"(?P<text>(?:[^"\\]++|\\.)*+)"(?P<colon>\s*:)?', re.DOTALL)
SPACE = re.compile(r"\s*")
# A key of a secret; or one that is written with escapes.
TELLING = re.compile("(?i)" + "|".join((*KEY_WORDS, r"\\u00")))
NUMBER = re.compile(r"\s*(?P<number>-?[0-9]{4,})\s*[,}]")


def document_spans(text: str, policy: Policy, *, flags: Sequence[bool] = ()) -> list[Span]:
    """What must go of a text that may be JSON, or hold JSON in its strings.

    The flags say of each string, in order, whether anything could be found in it.
    """
    if text.startswith(MARK):
        inner = document_spans(text[1:], policy, flags=flags)
        return [replace(span, start=span.start + 1, end=span.end + 1) for span in inner]
    rules = live(text, policy)
    return merged(text, [*fields.spans(text, policy), *_spans(text, policy, rules, flags, 0)])


def _spans(
    text: str, policy: Policy, rules: Sequence[Rule], flags: Sequence[bool], depth: int
) -> list[Span]:
    if depth == DEEPEST or not is_json(text):
        return spans(text, policy, rules)
    strings = list(STRING.finditer(text))
    if len(flags) != len(strings):
        flags = _flags(text, strings, policy, rules)
    found: list[Span] = []
    key, behind_key = "", -1
    for match, is_suspect in zip(strings, flags, strict=True):
        owner = key if match.start() == behind_key else ""
        if is_suspect or owner:
            found += _string(text, *match.span("text"), owner, policy, rules, depth)
        key, behind_key = "", -1
        if match["colon"] and _is_telling(match["text"]):
            key = said(match["text"])
            space = SPACE.match(text, match.end())
            behind_key = space.end() if space else -1
            found += _number(text, match.end(), key, policy)
    return found


@lru_cache(maxsize=4096)
def _is_telling(key: str) -> bool:
    """Whether a key may name a secret; the same few keys come again in every row."""
    return TELLING.search(key) is not None


def _flags(
    text: str, strings: list[re.Match[str]], policy: Policy, rules: Sequence[Rule]
) -> list[bool]:
    """Of each string, whether anything could be found in it; few are looked at one by one."""
    if len(strings) >= MANY:
        return suspects([m["text"].encode("utf-8", "surrogatepass") for m in strings], policy)
    if len(text) >= detect.LONG:
        return [True] * len(strings)
    low = lower(text)
    words = [word for rule in rules for word in rule.words if word in low]
    return [_may_hold(match["text"], words) for match in strings]


def _may_hold(raw: str, words: Sequence[str]) -> bool:
    if not raw.isascii() or "\\" in raw or "%" in raw or "&" in raw:
        return True
    low = raw.lower()
    for word in words:  # noqa: SIM110  a generator takes longer than all the rest
        if word in low:
            return True
    return False


def _string(
    text: str,
    start: int,
    end: int,
    owner: str,
    policy: Policy,
    rules: Sequence[Rule],
    depth: int,
) -> list[Span]:
    raw = text[start:end]
    meant = said(raw)
    if len(raw) > LONG:
        rules = live(meant, policy, rules)
    inner = _spans(meant, policy, rules, (), depth + 1) if rules else []
    is_kept = "assignment" in policy.off or PLACEHOLDER.search(meant) is not None
    if owner and not is_kept and is_secret(owner, meant, is_quoted=True):
        whole = Span(0, len(meant), "credential", "assignment", meant)
        inner = merged(meant, [*inner, whole])
    if not inner:
        return []
    read = decoded(raw)
    return [outward(span, read, start) for span in inner]


def _number(text: str, start: int, key: str, policy: Policy) -> list[Span]:
    """A password of digits, written as a number."""
    match = NUMBER.match(text, start)
    is_password = re.search(r"(?i)pass(?:word|wd|code|phrase)\Z", key)
    if match is None or not is_password or "assignment" in policy.off:
        return []
    place = match.span("number")
    return [Span(*place, "credential", "assignment", match["number"], quote='"')]
