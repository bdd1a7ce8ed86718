"""Sentences that the data themselves hold: notices, notes and differences, word by word."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from pipeline.package.numbers import Number
from pipeline.package.verify.data import Relations
from pipeline.package.verify.passages import Passage, Piece
from pipeline.package.verify.scope import Scope
from pipeline.package.verify.wording import plain
from pipeline.report.wording import ADVICE, BEHAVIOURS, MEASURES

# Where the sentences stand, and which columns say whom they are about.
TEXTS = {
    "raw.notices": ("message", ("subject",)),
    "root_causes": ("note", ("run_id", "task_id")),
    "suspicions": ("note", ("run_id", "task_id")),
    "contrasts": ("differences", ("run_id", "task_id")),
    "raw.report_settings": ("value", ()),
    "failure_modes": ("title", ()),
}
DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
CLAUSE = re.compile(r"[;|]|(?<=[a-z]):\s|\.\s")
OPENINGS = re.compile(r"^(?:the pair also differs in|it worked if|check first:|what to do:) ")
WORD = re.compile(r"[a-z]{3,}")


@dataclass(frozen=True)
class Phrase:
    """A piece of text of the data with numbers in it, and the names of what it is about."""

    text: str
    source: str
    # Names that have to be there as they are, and the run and task it is about.
    names: tuple[str, ...]
    run: str | None
    task: str | None

    @cached_property
    def masked(self) -> str:
        """The text with its numbers taken out."""
        return DIGITS.sub("#", self.text)


@dataclass(frozen=True)
class Phrases:
    """All such pieces, by what is left of them without their numbers."""

    by_mask: dict[str, list[Phrase]]

    def same_but(self, piece: Piece, number: Number) -> list[Phrase]:
        """The phrases that say what the clause around a number says, whatever the number."""
        clause = clause_around(piece, number)
        return self.by_mask.get(DIGITS.sub("#", clause), [])


def of_data(data: Relations) -> Phrases:
    """The clauses with a number in them, of every text that reports repeat."""
    by_mask: dict[str, dict[Phrase, None]] = {}
    for relation, (column, names) in TEXTS.items():
        if column not in data.columns.get(relation, {}):
            continue
        for row in data.table(relation):
            if row[column]:
                about = {name: str(row[name]) for name in names if row.get(name) is not None}
                run, task = about.pop("run_id", None), about.pop("task_id", None)
                for text in _clauses(_spelled(row[column])):
                    source = f"{relation}#{column}"
                    phrase = Phrase(text, source, tuple(about.values()), run, task)
                    by_mask.setdefault(phrase.masked, {})[phrase] = None
    for advice in ADVICE.values():
        for text in (advice.action, advice.about, advice.worked):
            for clause in _clauses(text):
                phrase = Phrase(clause, "the advice of blade", (), None, None)
                by_mask.setdefault(phrase.masked, {})[phrase] = None
    return Phrases({mask: list(found) for mask, found in by_mask.items()})


def clause_around(piece: Piece, number: Number) -> str:
    """The stretch of text between semicolons or colons that a number stands in."""
    text = piece.block.text
    start, end = piece.start, piece.end
    for match in CLAUSE.finditer(text, piece.start, piece.end):
        if match.end() <= number.start:
            start = match.end()
        elif match.start() >= number.end:
            end = match.start()
            break
    return _bare(text[start:end])


def concerning(phrases: Iterable[Phrase], passage: Passage, scope: Scope) -> list[Phrase]:
    """Those about a run and task that the passage is about."""
    every = list(phrases)
    if not every:
        return []
    runs, tasks = scope.runs_of(passage), scope.tasks_of(passage)
    return [
        each
        for each in every
        if all(name in passage.text for name in each.names)
        and (each.run is None or each.run in runs)
        and (each.task is None or each.task in tasks)
    ]


def _clauses(text: str) -> list[str]:
    found = [_bare(part) for part in CLAUSE.split(text)]
    return [part for part in found if DIGITS.search(part) and len(WORD.findall(part)) >= 1]


def _bare(text: str) -> str:
    shortened = re.sub(r"\s*\((?:failing first)\)", "", plain(text))
    return OPENINGS.sub("", shortened.strip()).strip(" .,")


def _spelled(text: str) -> str:
    """Names of measures as reports write them."""
    for name, words in sorted({**MEASURES, **BEHAVIOURS}.items(), key=lambda each: -len(each[0])):
        if name in text:
            text = re.sub(rf"(?<![\w]){re.escape(name)}(?![\w])", words, text)
    return text
