"""What a page cites -> those attempts: expected beside actual, and the events that matter."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, islice
from operator import itemgetter
from typing import Any

from ... import citation
from ...citation import Citation
from ...text import json_text, neutral, parsed
from ..declared import TABLES
from ..figures import Row, grouped
from ..filters import restored, short
from ..tables import Source, rows_of
from ..wording import WORDS

# A page stays small: what is cited after so many attempts is opened with `blade show`.
MOST_ROLLOUTS, MOST_EVENTS, LAST_EVENTS = 400, 12, 2
# Not a backquote that is escaped: it is text of others, and opens nothing.
CODE = re.compile(r"(?<![\\`])(`+)(?!`)(.+?)(?<!`)\1(?!`)")
# How much is shown before and behind what differs.
BEFORE, BEHIND, MOST_ARGUMENTS = 60, 240, 12
NOTHING = "nothing"
KEY = ("run_id", "task_id", "rollout_index")
key_of: Callable[[Mapping[str, Any]], tuple[str, str, int]] = itemgetter(*KEY)
# Text before, at and behind the difference.
Marked = tuple[str, str, str]


@dataclass(frozen=True)
class Beside:
    """Two texts beside each other, line by line, with what differs marked."""

    title: str
    heads: tuple[str, str]
    # Arguments by name, or one text without.
    lines: list[tuple[str, Marked, Marked]]


@dataclass(frozen=True)
class Evidence:
    """An attempt that the page cites."""

    citation: str
    row: Row
    differences: list[Beside]
    events: list[Row]
    # Events that are cited themselves, so that the link to them leads somewhere.
    cited_events: frozenset[int]

    @property
    def targets(self) -> Iterator[str]:
        """What a link can lead to: text of others may cite an event that there is not."""
        yield self.citation
        yield from (f"{self.citation}#{event.values['seq']}" for event in self.events)


def cited(texts: Iterable[str], runs: Set[str]) -> dict[Citation, set[int]]:
    """The rollouts of these runs that texts cite, in order, and which of their events."""
    citations: dict[Citation, set[int]] = {}
    for code in (code for text in texts for _, code in CODE.findall(text)):
        each = citation.parse(restored(code))
        if each is None or each.run_id not in runs:
            continue
        events = citations.setdefault(replace(each, seq=None), set())
        if each.seq is not None:
            events.add(each.seq)
    return citations


def collect(source: Source, pages: Sequence[Mapping[Citation, set[int]]]) -> list[list[Evidence]]:
    """Of each page the first of them that exist, by run, task and rollout, with their events."""
    chosen = [
        {each.rollout: seqs for each, seqs in islice(wanted.items(), MOST_ROLLOUTS)}
        for wanted in pages
    ]
    keys = list(dict.fromkeys(chain.from_iterable(chosen)))
    rollouts = {key_of(row.values): row for row in rows_of(source, TABLES["evidence"], keys)}
    differences = grouped(rows_of(source, TABLES["evidence_differences"], keys), *KEY)
    shown = [
        {key: _telling(row, wanted[key]) for key, row in rollouts.items() if key in wanted}
        for wanted in chosen
    ]
    wanted_events = {(*key, seq) for own in shown for key, seqs in own.items() for seq in seqs}
    events = {
        (*key_of(row.values), row.values["seq"]): row
        for row in rows_of(source, TABLES["evidence_events"], sorted(wanted_events))
    }
    return [
        [
            Evidence(
                str(Citation(*key, None)),
                rollouts[key],
                [beside(each.values) for each in differences[key]],
                [events[*key, seq] for seq in seqs if (*key, seq) in events],
                frozenset(wanted[key]),
            )
            for key, seqs in own.items()
        ]
        for wanted, own in zip(chosen, shown, strict=True)
    ]


def beside(row: Mapping[str, Any]) -> Beside:
    """A row of differences as it is shown: by argument, what differs marked."""
    name, status, one, other = (row[key] for key in ("name", "status", "one", "other"))
    if status == "contrast":
        title = f"First difference from the closest pass, {short(name)}"
        return Beside(title, ("passing", "failing"), [("", *marked(one, other))])
    sides = _fields(one), _fields(other)
    names = sorted({*sides[0], *sides[1]})[:MOST_ARGUMENTS] or [""]
    lines = [(short(each), *marked(*(side.get(each) for side in sides))) for each in names]
    return Beside(f"{short(name)}: {WORDS['calls'][status]}", ("expected", "actual"), lines)


def _fields(text: str | None) -> dict[str, str]:
    """The members of an object as text; what is no object is itself."""
    value = parsed(text) if text else {}
    if not isinstance(value, dict):
        return {"": text or ""}
    return {
        str(name): each if isinstance(each, str) else json_text(each)
        for name, each in value.items()
        if each is not None
    }


def marked(one: str | None, other: str | None) -> tuple[Marked, Marked]:
    """Both around where they differ: what they share at either end is not marked."""
    first, second = (" ".join((text or "").split()) for text in (one, other))
    if first == second:
        return (neutral(_cut(first)), "", ""), (neutral(_cut(first)), "", "")
    start = n_alike([first, second])
    end = n_alike([first[start:][::-1], second[start:][::-1]])
    sides = [
        (
            neutral(("…" if start > BEFORE else "") + text[max(0, start - BEFORE) : start]),
            neutral(_cut(text[start : len(text) - end])) or ("" if text else NOTHING),
            neutral(_cut(text[len(text) - end :])),
        )
        for text in (first, second)
    ]
    return sides[0], sides[1]


def n_alike(texts: list[str]) -> int:
    """How many characters all of them begin with."""
    return len(os.path.commonprefix(texts))  # noqa: RUF071  no paths


def _cut(text: str) -> str:
    return text if len(text) <= BEHIND else f"{text[:BEHIND]}… ({len(text):,} characters)"


def _telling(row: Row, cited_events: set[int]) -> list[int]:
    """The events cited, since links lead to them; then those before, of the mode, and the last."""
    n_events = row.values["n_events"] or 0
    marked = cited_events | ({row.values["evidence_seq"]} - {None})
    around = {seq - back for seq in marked for back in (0, 1)}
    last = set(range(n_events - LAST_EVENTS + 1, n_events + 1))
    others = sorted(seq for seq in (around | last) - cited_events if seq >= 1)
    room = max(0, MOST_EVENTS - len(cited_events))
    return sorted({*cited_events, *(others[-room:] if room else [])})
