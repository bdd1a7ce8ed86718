"""Placeholders: the same secret the same number everywhere, and where each stands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.package.sanitize.values import KINDS, Finding, Span

MOST_PLACES = 20
BLOCK = 1 << 22
# Also where a report has escaped the dashes.
SEEN = re.compile(rb"redacted\\{0,4}-([a-z]{2,10})\\{0,4}-([1-9][0-9]{0,8})")
LONGEST_SEEN = 64


@dataclass
class Entry:
    """A placeholder: its rule, how often it was put, and the first places."""

    kind: str
    number: int
    rule: str
    count: int = 0
    places: list[tuple[str, int]] = field(default_factory=list)

    @property
    def bare(self) -> str:
        """As file names and identifiers have it."""
        return f"redacted-{self.kind}-{self.number}"

    def shown(self, *, is_bare: bool, after: str) -> str:
        """As it stands before a text; a number must not grow by the digits behind it."""
        if not is_bare or self.kind not in BARE_KINDS:
            return f"[{self.bare}]"
        return f"{self.bare}_" if after[:1].isdigit() else self.bare


@dataclass
class Ledger:
    """What was given which number so far; the secrets are kept here and nowhere else."""

    highest: Counter[str] = field(default_factory=Counter)
    by_secret: dict[str, Entry] = field(default_factory=dict)
    files: dict[str, Counter[str]] = field(default_factory=dict)
    fresh: list[Finding] = field(default_factory=list)  # until the caller takes them

    def entry(self, span: Span) -> Entry:
        """The placeholder of a secret: the kind under which it was met first names it."""
        known = self.by_secret.get(span.secret)
        if known is None:
            self.highest[span.kind] += 1
            known = Entry(span.kind, self.highest[span.kind], span.rule)
            self.by_secret[span.secret] = known
        return known

    def put(self, span: Span, file: str, line: int, after: str = "") -> str:
        """Note a place, and say what stands there from now on, before the text `after`."""
        entry = self.entry(span)
        entry.count += 1
        if len(entry.places) < MOST_PLACES and (file, line) not in entry.places:
            entry.places.append((file, line))
        self.files.setdefault(file, Counter())[entry.kind] += 1
        self.fresh.append(Finding(file, line, entry.kind, span.rule))
        return f"{span.quote}{entry.shown(is_bare=span.is_bare, after=after)}{span.quote}"


BARE_KINDS = ("name", "user", "host")


def taken(ledger: Ledger) -> list[Finding]:
    """What was put since this was last asked."""
    fresh, ledger.fresh = ledger.fresh, []
    return fresh


def highest_seen(files: Iterable[Path]) -> Counter[str]:
    """The highest number of each kind that stands in any of the files already."""
    highest: Counter[str] = Counter()
    for path in files:
        with path.open("rb") as file:
            tail = b""
            while block := file.read(BLOCK):
                highest |= highest_in(tail + block)
                tail = block[-LONGEST_SEEN:]
    return highest


def highest_in(content: bytes) -> Counter[str]:
    """The same of a text."""
    highest: Counter[str] = Counter()
    for match in SEEN.finditer(content):
        kind = match[1].decode()
        if kind in KINDS:
            highest[kind] = max(highest[kind], int(match[2]))
    return highest
