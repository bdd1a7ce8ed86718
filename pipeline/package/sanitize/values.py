"""What sanitizing deals in: a policy, what was found in a text, and where it stood in a file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

# Where a part of a text begins and ends.
Place = tuple[int, int]
# The kinds of placeholder, in the order in which a summary lists them.
KINDS = (
    *("key", "credential", "token", "endpoint", "host", "ip"),
    *("user", "path", "email", "name", "source", "data"),
)
# What stands where something was taken out. Names may stand inside identifiers, without brackets.
PLACEHOLDER = re.compile(
    rf"\[redacted-(?P<kind>{'|'.join(KINDS)})-(?P<number>[1-9][0-9]{{0,8}})\]"
    r"|redacted-(?P<bare>name|user|email|token|host)-(?P<bare_number>[1-9][0-9]{0,8})(?![0-9])"
)


@dataclass(frozen=True)
class Allow:
    """What is cleared for sharing."""

    emails: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    ips: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Policy:
    """What is private beyond the rules, and what is not."""

    names: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    source_fields: tuple[str, ...] = ()
    withheld_fields: tuple[str, ...] = ()
    all_urls: bool = False
    allow: Allow = field(default_factory=Allow)
    off: tuple[str, ...] = ()


@dataclass(frozen=True)
class Span:
    """A part of a text that must go: what it is, the rule that says so, and what it says."""

    start: int
    end: int
    kind: str
    rule: str
    secret: str
    is_bare: bool = False  # stands inside an identifier: no brackets
    quote: str = ""  # around the placeholder, where a JSON value is no string


@dataclass(frozen=True)
class Finding:
    """Where something private stands; never what it says."""

    file: str
    line: int
    kind: str
    rule: str


@dataclass(frozen=True)
class Unchecked:
    """A file that nothing can be said about, and why."""

    file: str
    reason: str
