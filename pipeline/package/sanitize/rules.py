"""The rules by name: the kind of what each finds, how it is found, and what must be there first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from pipeline.package.sanitize import addresses, endpoints, handed, names, paths, tokens
from pipeline.package.sanitize.values import Place, Policy

Find = Callable[[str, Policy], Iterator[Place]]


@dataclass(frozen=True)
class Rule:
    """A way to find one kind of thing, and two cheap ways to know that it is not there.

    Without one of the `words`, in lower case, in a text there is nothing to find. The `screen` is
    the same for bytes, also of JSON with its escapes: a pattern without look-around that matches
    whatever holds something, and as little else as it can.
    """

    name: str
    kind: str
    find: Find
    words: tuple[str, ...]
    screen: str
    hint: re.Pattern[str] | None = None  # more than a word, in lower case, that must be there


def _plain(find: Callable[[str], Iterator[Place]]) -> Find:
    return lambda text, _: find(text)


# Of two that find the same, the one further up names it.
RULES = (
    Rule("private-key", "key", _plain(tokens.private_keys), ("private key",), "private key"),
    Rule(
        "provider-token",
        "token",
        _plain(tokens.shaped_tokens),
        tuple(tokens.PATTERNS),
        tokens.SHAPED_SCREEN,
    ),
    Rule(
        "authorization",
        "credential",
        _plain(tokens.authorizations),
        ("authorization", "bearer", "basic"),
        r"authorization|(?:bearer|basic)(?:\s|\\+[nrt])+[a-z0-9._~+/=-]{16}",
    ),
    Rule(
        "assignment",
        "credential",
        _plain(tokens.assigned),
        tokens.KEY_WORDS,
        tokens.ASSIGNED_SCREEN,
    ),
    Rule(
        "handed-over",
        "credential",
        _plain(handed.handed_over),
        handed.WORDS,
        handed.SCREEN,
        re.compile(handed.SCREEN),
    ),
    Rule("url", "endpoint", endpoints.urls, ("://",), "://"),
    Rule(
        "host-port",
        "endpoint",
        endpoints.hosts_with_port,
        (":",),
        r"[a-z][a-z0-9-]*:[1-9][0-9]",
        re.compile(r":[1-9][0-9]"),
    ),
    Rule(
        "internal-host",
        "host",
        endpoints.internal_hosts,
        endpoints.GATES,
        rf"\.(?:{'|'.join(map(re.escape, endpoints.SUFFIXES))})(?:[^a-z0-9_(]|$)|ip-[0-9]{{1,3}}-",
    ),
    Rule("listed-host", "host", endpoints.listed_hosts, (), ""),
    Rule(
        "ipv4",
        "ip",
        addresses.ipv4s,
        (".",),
        r"[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]",
        re.compile(r"\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]"),
    ),
    Rule(
        "ipv6",
        "ip",
        addresses.ipv6s,
        (":",),
        r"[0-9a-f]{4}:[0-9a-f:]*:|::ffff:|(?:[0-9a-f]{1,4}:){4}",
        re.compile(r":[0-9a-f]{0,4}:"),
    ),
    Rule("email", "email", addresses.emails, ("@",), r"[^\s\"]@[a-z0-9\x80-\xff]"),
    Rule(
        "login",
        "user",
        addresses.logins,
        ("@", "user=", "logname=", "username="),
        r"[^\s\"]@[a-z0-9]|(?:user|logname|username)=",
    ),
    Rule("listed-user", "user", lambda text, policy: names.listed(text, policy.users), (), ""),
    Rule("path", "path", paths.paths, paths.WORDS, paths.SCREEN),
    Rule("listed-name", "name", lambda text, policy: names.listed(text, policy.names), (), ""),
)
FIELD_RULES = {"source-field": "source", "withheld-field": "data"}
ALL_NAMES = (*(rule.name for rule in RULES), *FIELD_RULES)
LISTED = {"listed-host": "hosts", "listed-user": "users", "listed-name": "names"}


@lru_cache(maxsize=64)
def active(policy: Policy) -> tuple[Rule, ...]:
    """The rules of a policy; those for its lists with the lists' words."""
    chosen = []
    for rule in RULES:
        listed = getattr(policy, LISTED[rule.name]) if rule.name in LISTED else None
        if rule.name in policy.off or listed == ():
            continue
        if listed:
            rule = replace(rule, words=names.first_words(listed), screen=names.screen(listed))
        chosen.append(rule)
    return tuple(chosen)
