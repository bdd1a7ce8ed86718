"""Known quantities that a number may be: the same value, and their words beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from pipeline.package.numbers import Number
from pipeline.package.verify.evidence import Evidence
from pipeline.package.verify.passages import Passage, Piece
from pipeline.package.verify.phrases import Phrases
from pipeline.package.verify.quantities import Quantities, Quantity
from pipeline.package.verify.scope import Scope

# The relation that labels of a kind are looked up in, and the column that names a row.
KINDS = {
    "run": ("run_metrics", "run_id"),
    "mode": ("report.modes", "mode"),
    "stage": ("report.funnels", "stage"),
    "slice": ("slice_metrics", "slice_value"),
    "cause": ("report.causes", "cause"),
    "bucket": ("bucket_counts", "bucket"),
    "task": ("task_outcomes", "task_id"),
}
BEFORE, AFTER = 90, 90
AROUND = 600
# A small whole number is found everywhere: what it is of must stand in the passage itself.
SMALL = 20


@dataclass(frozen=True)
class Known:
    """Everything that a number without a mark may be held against."""

    evidence: Evidence
    scope: Scope
    quantities: Quantities
    of_tasks: Mapping[str, Quantities]
    phrases: Phrases
    # Rows by kind and name, for labels that leave no doubt.
    rows: Mapping[tuple[str, str], list[Mapping[str, Any]]]
    kinds: Mapping[str, frozenset[str]]

    @cached_property
    def parts(self) -> re.Pattern[str]:
        """The names of modes, slices and stages, but for those that are everyday words."""
        names = sorted(
            re.escape(name)
            for kind in ("mode", "slice", "stage")
            for name in self.kinds[kind]
            if name not in ("passed", "expected", "recorded")
        )
        return re.compile(rf"(?<!\w)(?:{'|'.join(names) or '(?!)'})(?!\w)", re.IGNORECASE)


def matching(
    passage: Passage, piece: Piece, number: Number, known: Known, before: str
) -> list[Quantity]:
    """The quantities of the same value whose words stand near the number."""
    near = known.quantities.near(number)
    for task in known.scope.tasks_of(passage):
        near += known.of_tasks[task].near(number) if task in known.of_tasks else []
    if not near:
        return []
    runs = set(known.scope.runs_of(passage, piece.head))
    window = _window(passage, piece, number)
    names = own_words(passage, piece)
    start = max(0, piece.start - AROUND)
    beside = piece.block.text[start : piece.end + AROUND]
    around = " ".join([names, beside, before, *passage.titles]).casefold()
    # Hundreds of quantities have the value 1, and few different words.
    said = {
        phrases: any(all(_is_said(word, window) for word in phrase) for phrase in phrases)
        for phrases in {each.phrases for each in near}
    }
    return [
        each
        for each in near
        if said[each.phrases]
        and (not each.runs or not runs.isdisjoint(each.runs))
        and is_named(each, names if _is_small(each) else around)
    ]


def own_words(passage: Passage, piece: Piece) -> str:
    """A passage with the head of the column, in small letters."""
    return f"{passage.text} {piece.head}".casefold()


def is_named(quantity: Quantity, words: str) -> bool:
    """Whether words name everything that a quantity is of."""
    return all(_is_named(name, words) for name in quantity.names)


def _is_small(quantity: Quantity) -> bool:
    return abs(quantity.value) <= SMALL and not quantity.is_rate


def _window(passage: Passage, piece: Piece, number: Number) -> str:
    """The words that may say what a number is."""
    if not passage.is_row:
        text = piece.block.text
        start, end = max(piece.start, number.start - BEFORE), min(piece.end, number.end + AFTER)
        return text[start:end].casefold()
    first = passage.pieces[0]
    told = [piece.head, first.head, passage.text, passage.section.title]
    if first.head.strip().lower() in ("k", "attempts") and first.text.strip().isdecimal():
        told += [f"pass@{first.text.strip()} pass^{first.text.strip()}"]
    return " ".join(told).casefold()


@lru_cache(maxsize=10_000)
def _pattern(word: str) -> re.Pattern[str]:
    end = r"(?!\w)" if len(word) < 3 or word[-1].isdigit() else ""
    return re.compile(rf"(?<!\w){re.escape(word)}{end}")


@lru_cache(maxsize=50_000)
def _is_said(word: str, window: str) -> bool:
    return _pattern(word).search(window) is not None


@lru_cache(maxsize=50_000)
def _is_named(name: str, context: str) -> bool:
    return any(_pattern(each.casefold()).search(context) for each in name.split("|"))
