"""A text -> the parts of it that must go, also where an escape or an odd character hides them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from pipeline.package.sanitize import names
from pipeline.package.sanitize.alignment import view
from pipeline.package.sanitize.rules import LISTED, Rule, active
from pipeline.package.sanitize.screen import ESCAPES, ODD_BYTES, matched
from pipeline.package.sanitize.tokens import lower
from pipeline.package.sanitize.values import PLACEHOLDER, Policy, Span

# `%2540` is an @ written twice over.
MOST_READINGS = 3
# Nothing that any rule finds is shorter: a@b.cc, fe80::1, names of three letters.
SHORTEST = 3
# From here on a pattern over bytes is faster than looking for words.
LONG = 100_000
ENTITIES = {
    **{"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"},
    **{"commat": "@", "colon": ":", "sol": "/", "period": "."},
}
ODD = (
    r"[\xad\u034f\u061c\u115f\u1160\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u209c"
    r"\u2100-\u214f\u2460-\u24ff\ufb00-\ufb06\ufe00-\ufe0f\ufeff\uff01-\uff5e\U0001d400-\U0001d7ff]"
)
ESCAPE = re.compile(
    r"&#(?P<decimal>[0-9]{2,3});|&#[xX](?P<hex>[0-9a-fA-F]{2});|&(?P<entity>[a-z]{2,6});"
    r"|%(?P<percent>[2-7][0-9A-Fa-f])|\\u00(?P<unicode>[2-7][0-9A-Fa-f])|\\(?P<mark>[_.@:/+~=-])"
    rf"|(?P<odd>{ODD})"
)
HINT = re.compile(f"{ESCAPES}|{ODD}", re.IGNORECASE)
ESCAPED = f"{ESCAPES}|{ODD_BYTES}"


def spans(text: str, policy: Policy, rules: Sequence[Rule] | None = None) -> list[Span]:
    """What must go, in order, nothing twice; placeholders are left alone and part the text."""
    if rules is None:
        rules = live(text, policy)
    if not rules or len(text) < SHORTEST:
        return []
    return merged(text, list(_apart(text, policy, rules, MOST_READINGS)))


def live(text: str, policy: Policy, rules: Sequence[Rule] | None = None) -> Sequence[Rule]:
    """The rules that could find something in a text, or in any part of it."""
    rules = active(policy) if rules is None else rules
    # JSON writes letters beyond ASCII as escapes, and names may have them.
    if _is_escaped(text) or ("\\u" in text and _has_letters_beyond_ascii(policy)):
        return rules
    if len(text) >= LONG:
        content = [text.encode("utf-8", "surrogatepass")]
        return [rule for rule in rules if matched(content, rule.screen) == [True]]
    low = lower(text)
    return [rule for rule in rules if _may_find(rule, low)]


def _read(text: str, policy: Policy, rules: Sequence[Rule], readings: int) -> list[Span]:
    found: list[Span] = []
    if readings and _is_escaped(text):
        read = view(text, ESCAPE, _meaning)
        if read.text != text:
            for span in _apart(read.text, policy, rules, readings - 1):
                start, end = read.origin(span.start, span.end)
                found.append(replace(span, start=start, end=end))
    return [*found, *_direct(text, policy, rules)]


def _is_escaped(text: str) -> bool:
    """Whether anything in the text may mean something else; cheap where nothing does."""
    may_be = not text.isascii() or "\\" in text or "%" in text or "&" in text
    if may_be and len(text) >= LONG:
        return matched([text.encode("utf-8", "surrogatepass")], ESCAPED) == [True]
    return may_be and HINT.search(text) is not None


@lru_cache(maxsize=64)
def _has_letters_beyond_ascii(policy: Policy) -> bool:
    return not "".join((*policy.names, *policy.users, *policy.hosts)).isascii()


def _apart(text: str, policy: Policy, rules: Sequence[Rule], readings: int) -> Iterator[Span]:
    """What stands between placeholders; an escaped report quotes some that a reading finds."""
    if "redacted-" not in text:
        yield from _read(text, policy, rules, readings)
        return
    start = 0
    for match in (*PLACEHOLDER.finditer(text), None):
        end = match.start() if match else len(text)
        for span in _read(text[start:end], policy, rules, readings):
            yield replace(span, start=span.start + start, end=span.end + start)
        start = match.end() if match else end


def _meaning(match: re.Match[str]) -> str:
    if match.lastgroup == "odd":
        return _odd(match[0])
    if match["decimal"]:
        return chr(int(match["decimal"]))
    if code := match["hex"] or match["percent"] or match["unicode"]:
        return chr(int(code, 16))
    if match["entity"]:
        return ENTITIES.get(match["entity"], match[0])
    return match["mark"]


@lru_cache(maxsize=4096)
def _odd(character: str) -> str:
    """Nothing where it cannot be seen, a plain letter where it looks like one."""
    if unicodedata.category(character) in ("Cf", "Mn"):
        return ""
    plain = unicodedata.normalize("NFKC", character)
    return plain if plain.isascii() else character


def _direct(text: str, policy: Policy, rules: Sequence[Rule]) -> Iterator[Span]:
    low = lower(text)
    for rule in rules:
        if _may_find(rule, low):
            for start, end in rule.find(text, policy):
                span = _span(text, start, end, rule)
                if not _is_cleared(span.secret, policy):
                    yield span


def _may_find(rule: Rule, low: str) -> bool:
    for word in rule.words:
        if word in low:
            return rule.hint is None or rule.hint.search(low) is not None
    return False


def _span(text: str, start: int, end: int, rule: Rule) -> Span:
    secret = text[start:end]
    if rule.name not in LISTED:
        return Span(start, end, rule.kind, rule.name, secret)
    is_bare = names.is_in_identifier(text, start, end)
    return Span(start, end, rule.kind, rule.name, names.identity(secret), is_bare)


def _is_cleared(secret: str, policy: Policy) -> bool:
    return any(re.fullmatch(pattern, secret) for pattern in policy.allow.patterns)


def merged(text: str, found: list[Span]) -> list[Span]:
    """In order, and where two overlap one in their place: the longer, or both together."""
    kept: list[Span] = []
    for span in sorted(found, key=lambda span: (span.start, -span.end)):
        if span.start == span.end:
            continue
        last = kept[-1] if kept else None
        if last is None or span.start >= last.end:
            kept.append(span)
        elif span.end > last.end:
            both = text[last.start : span.end]
            kept[-1] = replace(last, end=span.end, secret=both, is_bare=False)
    return kept
