"""What most cells of a column are tells what the odd one should be."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace

from pipeline.package.numbers import Number
from pipeline.package.verify.finding import CONTRADICTED, Finding
from pipeline.package.verify.matching import Known, is_named, own_words
from pipeline.package.verify.passages import Passage
from pipeline.package.verify.printed import plain
from pipeline.package.verify.quantities import Quantity

FIGURES = re.compile(r"[+\u2212-]?\d[\d,]*(?:\.\d+)?")
BOUND = re.compile(r"\b(?:below|under|over|above|from|up|about|at least|at most)\b|[<>~]")
LEAST_CELLS = 3
LEAST_SHARE = 0.6
LEAST_VALUES = 3


@dataclass(frozen=True)
class Judged:
    """A number without a mark, what was found of it, and the quantities it may be."""

    passage: Passage
    place: int
    # Which number of its cell it is.
    order: int
    number: Number
    matches: tuple[Quantity, ...]
    finding: Finding


def agreed(judged: list[Judged], known: Known) -> list[Finding]:
    """The findings, where a column of a table outvotes those on its odd cells."""
    columns: dict[Place, list[Judged]] = {}
    for each in judged:
        if each.passage.is_row:
            columns.setdefault(_place(each), []).append(each)
    meant = {place: _meant(cells) for place, cells in columns.items()}
    return [_outvoted(each, meant.get(_place(each), []), known) for each in judged]


# The table, the column, what is in the cell beside numbers, and which of its numbers.
Place = tuple[int, int, str, int]


def _place(each: Judged) -> Place:
    text = each.passage.pieces[each.place].text.strip()
    return each.passage.table_no, each.place, FIGURES.sub("#", text), each.order


def _meant(cells: list[Judged]) -> list[tuple[str, str]]:
    """The columns of relations that most cells of a column agree with, the most often found."""
    votes: Counter[tuple[str, str]] = Counter()
    for cell in cells:
        words = own_words(cell.passage, cell.passage.pieces[cell.place])
        votes.update({each.column for each in cell.matches if _is_of_row(each, words)})
    most = max(votes.values(), default=0)
    if len(cells) < LEAST_CELLS or most < LEAST_SHARE * len(cells):
        return []
    # A column of ones and fours agrees with much by chance.
    if len({cell.number.value for cell in cells if cell.matches}) < LEAST_VALUES:
        return []
    return sorted(column for column, n_votes in votes.items() if n_votes == most)


def _is_of_row(quantity: Quantity, words: str) -> bool:
    """Whether a row itself names what a quantity is of."""
    return bool(quantity.names or quantity.task) and is_named(quantity, words)


def _outvoted(each: Judged, meant: list[tuple[str, str]], known: Known) -> Finding:
    """A finding, contradicted where all that the column may mean give the row another value."""
    if not meant or each.finding.status == CONTRADICTED:
        return each.finding
    if any(quantity.column in meant for quantity in each.matches):
        return each.finding
    # A row about another run, or a bound, is no more of the same.
    if known.scope.named(each.passage.text) or BOUND.search(each.passage.pieces[each.place].text):
        return each.finding
    piece = each.passage.pieces[each.place]
    words = own_words(each.passage, piece)
    runs = set(known.scope.runs_of(each.passage, piece.head))
    every = [known.quantities]
    every += [
        known.of_tasks[task]
        for task in known.scope.own_tasks(each.passage)
        if task in known.of_tasks
    ]
    expected: list[Quantity] = []
    for column in meant:
        rows = [
            quantity
            for quantities in every
            for quantity in quantities.by_column.get(column, [])
            if (not quantity.runs or not runs.isdisjoint(quantity.runs))
            and _is_of_row(quantity, words)
        ]
        if not rows:
            return each.finding
        expected += rows
    if any(each.number.agrees(quantity.value) for quantity in expected):
        return each.finding
    told = plain(each.number).like(expected[0].value)
    return replace(each.finding, status=CONTRADICTED, expected=told, source=expected[0].source)
