"""A text -> the private parts of it, also those that an escape hides."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ..json_places import TOKEN, values
from . import checks, secrets
from .policy import FIELDS, LISTED, PATTERNS, SEPARATORS, Policy

# The kinds of placeholder, in the order in which a summary lists them.
KINDS = tuple("key credential token endpoint host ip user path email name source data".split())
# A placeholder; in identifiers it has no brackets.
PLACEHOLDER = re.compile(
    rf"\[redacted-(?:{'|'.join(KINDS)})-[1-9][0-9]{{0,8}}\]"
    r"|redacted-(?:name|user|email|token|host)-[1-9][0-9]{0,8}(?![0-9])"
)
# `%2540` is an @ written twice over; a call's arguments are JSON in a string of JSON in a log.
MOST_READINGS = 4
# Escapes of JSON, Markdown, HTML and addresses; invisible characters; full-width letters.
ESCAPE = re.compile(
    r"\\(?:u[0-9A-Fa-f]{4}|[nrtbf!-/:-@\[-`{-~])|&#[0-9]{2,4};|&#[xX][0-9A-Fa-f]{2,4};"
    r"|&[a-z]{2,6};|%[2-7][0-9A-Fa-f]|[\xad\u200b-\u200f\u2060\ufeff\uff01-\uff5e]"
)
JSON_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|.)")
TRAILING = ".,;:!?*~"
BELOW = re.compile(r"(?:[A-Za-z0-9-]+\.)+\Z")


@dataclass(frozen=True)
class Span:
    """A private part of a text: its kind, the rule that found it, and the secret."""

    start: int
    end: int
    kind: str
    rule: str
    secret: str
    is_bare: bool = False  # part of an identifier: no brackets
    quote: str = ""  # around the placeholder, where a JSON value is no string


@dataclass(frozen=True)
class Rule:
    """A pattern to search for, from patterns.toml or from the names that a policy lists."""

    id: str
    kind: str
    matches: Callable[[str], Iterator[re.Match[str]]]
    needs: tuple[str | re.Pattern[str], ...]  # none: every line is searched
    check: Callable[[re.Match[str], Policy], bool] = lambda match, policy: True
    is_long: bool = False  # may go over several lines


@lru_cache(maxsize=64)
def rules(policy: Policy) -> list[Rule]:
    """The rules of a policy. If two find the same text, the first one names it."""
    active = [rule for each in PATTERNS for rule in _built(each)]
    for key, kind in LISTED.items():
        listed: tuple[str, ...] = getattr(policy, key)
        spelled = {unicodedata.normalize("NFC", name) for name in listed}
        spelled |= {unicodedata.normalize("NFD", name) for name in listed}
        words = [[word for word in SEPARATORS.split(name) if word] for name in spelled]
        # The longest first: one name may begin another.
        regexes = sorted((r"[\s_.\-]{0,4}".join(map(re.escape, each)) for each in words), key=len)
        regex = re.compile("|".join(reversed(regexes)), re.IGNORECASE)
        gate = tuple(each[0].lower() for each in words)
        if gate:
            active.append(Rule(f"listed-{kind}", kind, regex.finditer, gate, is_long=True))
    return [rule for rule in active if rule.id not in policy.off]


def _built(pattern: Mapping[str, Any]) -> Iterator[Rule]:
    """The rules of one pattern: of its regex, or of what secrets.toml lists."""
    needs = pattern.get("needs", ())
    rule = Rule(
        pattern["id"],
        pattern["replace"],
        re.compile(pattern.get("regex", "")).finditer,
        (re.compile(needs),) if isinstance(needs, str) else tuple(needs),
        getattr(checks, pattern["check"]) if "check" in pattern else Rule.check,
        is_long=pattern.get("is_long", pattern["replace"] == "key"),
    )
    if pattern["id"] == "command":
        for each in secrets.COMMANDS:
            yield replace(rule, matches=each.matches, needs=each.needs)
    else:
        yield replace(rule, matches=secrets.tokens) if pattern["id"] == "token" else rule


def spans(text: str, policy: Policy, *, is_json: bool = False) -> list[Span]:
    """The private parts of a text in order, without overlaps; in JSON only within strings."""
    private = _read(text, policy, MOST_READINGS, is_json=is_json)
    if is_json:
        places = [match.span() for match in TOKEN.finditer(text)] if private else []
        starts = [start for start, _ in places]
        inside = [(places[bisect_right(starts, span.start) - 1], span) for span in private]
        private = [span for (start, end), span in inside if start < span.start and span.end < end]
        private = _merged(text, [*_fields(text, policy), *private])
    return private


def _merged(text: str, spans: list[Span]) -> list[Span]:
    """The spans in order; two that overlap become one that covers both."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        last = merged[-1] if merged else None
        if last is None or span.start >= last.end:
            merged.append(span)
        elif span.end > last.end:
            both = text[last.start : span.end]
            merged[-1] = replace(last, end=span.end, secret=both, is_bare=False)
    return merged


def _read(text: str, policy: Policy, readings: int, *, is_json: bool = False) -> list[Span]:
    """The private parts of a text as written, and of what its escapes mean, until none is left."""
    # An n behind a backslash is no letter: JSON is read for what it means alone, and whole.
    private: list[Span] = []
    at = 0
    while readings and at < len(text):
        escape = ESCAPE.search(text, at)
        if escape is None and not is_json:
            break
        start, at = at, len(text)
        if escape and not is_json:
            start, end = text.rfind("\n", 0, escape.start()) + 1, text.find("\n", escape.end())
            at = end if end >= 0 else at
        line = text[start:at]
        meant = ESCAPE.sub(lambda match: _meaning(match[0]), line)
        if is_json or meant != line:
            private += _outward(line, _read(meant, policy, readings - 1), start, ESCAPE)
    # Of two at the same place, the one behind an escape comes first.
    return _merged(text, private if is_json else [*private, *_direct(text, policy)])


@lru_cache(maxsize=4096)
def _meaning(escape: str) -> str:
    if escape[0] == "\\":
        named = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
        return chr(int(escape[2:], 16)) if escape[1] == "u" else named.get(escape[1], escape[1])
    if escape[0] in "%&":
        return chr(int(escape[1:], 16)) if escape[0] == "%" else html.unescape(escape)
    plain = unicodedata.normalize("NFKC", escape)
    return plain if plain.isascii() else ""


def _outward(text: str, inner: list[Span], offset: int, escapes: re.Pattern[str]) -> Iterator[Span]:
    """Spans of an unescaped text as spans of the text as written; an escape is never cut."""
    # The start of each piece in the unescaped text, and its place; only escapes have an end.
    pieces: list[tuple[int, int, int]] = []
    at = last = 0
    for match in escapes.finditer(text) if inner else ():
        pieces += ((at, last, 0), (at + match.start() - last, *match.span()))
        at += match.start() - last + len(_meaning(match[0]))
        last = match.end()
    pieces.append((at, last, 0))
    starts = [piece[0] for piece in pieces]
    for span in inner:
        begun, start, end = pieces[bisect_right(starts, span.start) - 1]
        first = start if end else start + span.start - begun
        begun, start, end = pieces[bisect_right(starts, span.end - 1) - 1]
        yield replace(span, start=offset + first, end=offset + (end or start + span.end - begun))


def _direct(text: str, policy: Policy) -> Iterator[Span]:
    """The private parts between placeholders, which stay as they are."""
    low = text.replace("\u0130", "i").lower()
    taken = [match.span() for match in PLACEHOLDER.finditer(text)] if "redacted-" in low else []
    starts, ends = [start for start, _ in taken], [end for _, end in taken]
    for rule in rules(policy):
        for start, end in _lines(low, rule):
            first = bisect_right(ends, start)
            last = bisect_left(starts, end)
            for until, behind in (*taken[first:last], (end, end)):
                yield from _private(rule, text[start:until], start, policy)
                start = behind


def _lines(low: str, rule: Rule) -> list[tuple[int, int]]:
    """The lines with what a rule needs; the whole text for a rule over several lines."""
    if not rule.needs:
        return [(0, len(low))]
    lines = set()
    for need in rule.needs:
        at = -1
        while True:
            if isinstance(need, str):
                at = low.find(need, at + 1)
            else:
                match = need.search(low, at + 1)
                at = match.start() if match else -1
            if at < 0:
                break
            if rule.is_long:
                return [(0, len(low))]
            start, at = low.rfind("\n", 0, at) + 1, low.find("\n", at)
            at = at if at >= 0 else len(low)
            lines.add((start, at))
    return sorted(lines)


def _private(rule: Rule, text: str, offset: int, policy: Policy) -> Iterator[Span]:
    stems = [path.rstrip("/\\") for path in policy.allow.paths if rule.kind == "path"]
    for match in rule.matches(text):
        if rule.id.startswith("listed-"):
            if all(_is_joint(text, at) for at in match.span()):
                yield _listed(rule, match, offset)
            continue
        if not rule.check(match, policy):
            continue
        groups = match.re.groupindex
        start, end = match.span("secret" if "secret" in groups else 0)
        secret = text[start:end]
        if "open" not in groups or not match["open"]:
            brackets = "" if "(" in secret or "[" in secret else ")]"
            secret = secret.rstrip(TRAILING + brackets)
        is_allowed = any(secret == s or secret.startswith((f"{s}/", f"{s}\\")) for s in stems)
        is_allowed = is_allowed or any(re.fullmatch(p, secret) for p in policy.allow.patterns)
        if not is_allowed:
            start += offset
            yield Span(start, start + len(secret), rule.kind, rule.id, secret)


def _listed(rule: Rule, match: re.Match[str], offset: int) -> Span:
    """A name of the policy: all spellings are one secret; it may be part of an identifier."""
    text, start, end = match.string, match.start(), match.end()
    if rule.kind == "host" and (below := BELOW.search(text[max(0, start - 200) : start])):
        start -= len(below[0])
    secret = SEPARATORS.sub(" ", unicodedata.normalize("NFC", text[start:end])).strip().casefold()
    before, after = text[max(0, start - 1) : start], text[end : end + 2]
    # A full stop or a dash ends a sentence, or goes on.
    is_followed = re.match(r"[A-Za-z0-9_/]|[.-][A-Za-z0-9]", after)
    is_alone = before in ("", '"') and after[:1] in ("", '"')
    is_bare = is_alone or is_followed or re.match(r"[A-Za-z0-9_./=-]", before)
    return Span(start + offset, end + offset, rule.kind, rule.id, secret, bool(is_bare))


def _is_joint(text: str, at: int) -> bool:
    """Whether a word may end here: inside aB, a1 and 1a, but not inside ab and AB."""
    before, after = text[max(0, at - 1) : at], text[at : at + 1]
    if before.isalpha() and after.isalpha():
        return before.islower() and after.isupper()
    return not (before.isdigit() and after.isdigit())


def is_json(text: str) -> bool:
    """Whether a text is an object, a list or a string of JSON; Python's parser says."""
    plain = text.removeprefix("\ufeff").lstrip()
    try:
        return plain[:1] in ("{", "[", '"') and json.loads(plain, strict=False) is not None
    except (ValueError, RecursionError):
        return False


def _fields(text: str, policy: Policy, above: Sequence[str] = ()) -> Iterator[Span]:
    """The whole values of listed fields; null and empty values stay."""
    wanted = [
        (path.split("."), *how)
        for key, how in FIELDS.items()
        for path in getattr(policy, key)
        if how[1] not in policy.off
    ]
    for start, end, path in values(text, above) if wanted else ():
        raw = text[start:end]
        hit = next((each[1:] for each in wanted if _leads(path, each[0])), None)
        if raw[0] != '"':
            if hit and raw not in ("null", "{}", "[]"):
                yield Span(start, end, *hit, raw, quote='"')
            continue
        inner = JSON_ESCAPE.sub(lambda match: _meaning(match[0]), raw[1:-1])
        if hit and inner and not PLACEHOLDER.fullmatch(inner):
            yield Span(start + 1, end - 1, *hit, inner)
        elif not hit and is_json(inner):
            # As calls have their arguments: its fields are below the string's.
            below = [*_fields(inner, policy, path)]
            for span in _outward(raw[1:-1], below, start + 1, JSON_ESCAPE):
                yield replace(span, quote=json.dumps(span.quote)[1:-1])


def _leads(path: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether a listed path, with `*` for an item and `**` for any way down, leads here."""
    if not wanted:
        return not path
    if wanted[0] == "**":
        return any(_leads(path[n:], wanted[1:]) for n in range(len(path) + 1))
    return bool(path) and wanted[0] in (path[0], "*") and _leads(path[1:], wanted[1:])
