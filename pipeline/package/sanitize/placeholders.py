"""Placeholders that replace private texts, and the log of where they are, without the texts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ... import files
from ...errors import InputError
from ...text import json_text
from .detect import KINDS, PLACEHOLDER, Span

HEAD = {"made_by": "blade sanitize", "schema_version": 1}
MOST_PLACES = 20
BLOCK = 1 << 22
# Kinds that occur inside identifiers and file names, where brackets would break them.
BARE_KINDS = ("name", "user", "host")
# A placeholder in a file, also with dashes that a report has escaped.
SEEN = re.compile(rb"redacted\\{0,4}-([a-z]{2,10})\\{0,4}-([1-9][0-9]{0,8})")
LONGEST_SEEN = 64


@dataclass
class Entry:
    """A text that is replaced: its placeholder, its rule, how often it occurs, and where first."""

    placeholder: str
    kind: str
    rule: str
    count: int = 0
    places: list[tuple[str, int]] = field(default_factory=list)

    @property
    def bare(self) -> str:
        """The placeholder without brackets, as in file names and identifiers."""
        return self.placeholder.strip("[]")


@dataclass
class Placeholders:
    """The placeholder of each private text so far. The texts are here alone, never in the log."""

    highest: Counter[str] = field(default_factory=Counter)
    by_secret: dict[str, Entry] = field(default_factory=dict)
    files: dict[str, Counter[str]] = field(default_factory=dict)

    def entry(self, span: Span) -> Entry:
        """The placeholder of a secret: the kind under which it was met first names it."""
        if span.secret not in self.by_secret:
            self.highest[span.kind] += 1
            placeholder = f"[redacted-{span.kind}-{self.highest[span.kind]}]"
            self.by_secret[span.secret] = Entry(placeholder, span.kind, span.rule)
        return self.by_secret[span.secret]

    def put(self, span: Span, file: str, line: int, after: str = "") -> str:
        """Note a place, and return what replaces it, before the text `after`."""
        entry = self.entry(span)
        entry.count += 1
        if len(entry.places) < MOST_PLACES and (file, line) not in entry.places:
            entry.places.append((file, line))
        self.files.setdefault(file, Counter())[entry.kind] += 1
        shown = entry.placeholder
        if span.is_bare and entry.kind in BARE_KINDS:
            # A number must not grow by the digits behind it.
            shown = f"{entry.bare}_" if after[:1].isdigit() else entry.bare
        return f"{span.quote}{shown}{span.quote}"

    @property
    def entries(self) -> list[Entry]:
        """What was replaced in any place, in the order in which it was met."""
        return [entry for entry in self.by_secret.values() if entry.count]


@dataclass(frozen=True)
class Log:
    """What was taken out of which files: redactions.json, without the texts themselves."""

    policy: Mapping[str, Any]
    redactions: tuple[Entry, ...]
    files: Mapping[str, Mapping[str, int]]

    def text(self, unchecked: Sequence[Mapping[str, str]]) -> str:
        content = {
            **HEAD,
            "policy": self.policy,
            "by_kind": by_kind(self.redactions),
            "redactions": [
                {**vars(each), "places": [{"file": f, "line": n} for f, n in each.places]}
                for each in sorted(self.redactions, key=_order)
            ],
            "files": [
                {"file": name, "counts": {kind: counts[kind] for kind in KINDS if counts.get(kind)}}
                for name, counts in sorted(self.files.items())
            ],
            "unchecked": list(unchecked),
        }
        return json_text(content, indent=2) + "\n"


def read(path: Path) -> Log:
    """The log in a file; anything else is refused."""
    try:
        content = json.loads(files.content(path).decode("utf-8"))
        if {key: content[key] for key in HEAD} != HEAD:
            raise ValueError
        entries = []
        for item in content["redactions"]:
            places = [(str(place["file"]), int(place["line"])) for place in item["places"]]
            entries.append(Entry(**{**item, "count": int(item["count"]), "places": places}))
        is_ours = all(PLACEHOLDER.fullmatch(each.placeholder) for each in entries)
        if not is_ours or not {each.kind for each in entries} <= {*KINDS}:
            raise ValueError
        counts = {str(each["file"]): Counter(each["counts"]) for each in content["files"]}
        return Log({**content["policy"]}, tuple(entries), counts)
    except files.UnreadableError as error:
        raise InputError(f"{path}: {error}.") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        hint = "If it is a file of yours, rename it: sanitize keeps its log under this name."
        raise InputError(f"{path}: is not a redaction log.", hint=hint) from error


def by_kind(entries: Iterable[Entry]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for entry in entries:
        total[entry.kind] += entry.count
    return {kind: total[kind] for kind in KINDS if total[kind]}


def highest_seen(paths: Iterable[Path], names: str) -> Counter[str]:
    """The highest number of each kind in the files or their names so far."""
    highest: Counter[str] = Counter()

    def note(content: bytes) -> None:
        for kind, number in SEEN.findall(content):
            highest[kind.decode()] = max(highest[kind.decode()], int(number))

    note(names.encode("utf-8", "surrogateescape"))
    for path in paths:
        with path.open("rb") as file:
            tail = b""
            while block := file.read(BLOCK):
                note(tail + block)
                tail = block[-LONGEST_SEEN:]
    return highest


def _order(entry: Entry) -> tuple[int, int]:
    return KINDS.index(entry.kind), int(entry.bare.rpartition("-")[2])
