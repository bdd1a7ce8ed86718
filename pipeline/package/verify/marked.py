"""Marked figures: each is looked up where its mark says it was read from."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pipeline.package.reading import Mark
from pipeline.package.verify.data import Relations
from pipeline.package.verify.finding import CONTRADICTED, UNVERIFIABLE, VERIFIED, Finding
from pipeline.package.verify.passages import Passage, Piece
from pipeline.package.verify.printed import Printed, before, number_of
from pipeline.text import is_redacted

CHECK = "marked"
# Rows that are numbered by rank: another analysis may give the number to another row.
RANKED = {"report.findings": ("run_id", "base")}
MOST_NAMES = 3
# What there is instead costs a query.
MOST_TOLD = 30


@dataclass(frozen=True)
class Marked:
    """A mark in its passage, with the number printed before it."""

    passage: Passage
    piece: Piece
    mark: Mark
    printed: Printed | None

    @property
    def line(self) -> int:
        """Where the figure stands."""
        return self.piece.line_at(max(0, self.mark.end - 1))

    @property
    def source(self) -> str:
        """The relation, key and column as a reader may ask for them."""
        return source(self.mark)


def source(mark: Mark) -> str:
    """A mark in words: `run_metrics?run_id=base#pass_at_1`."""
    key = "&".join(f"{name}={value}" for name, value in mark.key)
    return f"{mark.relation}?{key}#{mark.column}"


def marked(found: list[Passage]) -> list[Marked]:
    """Every mark of a report, in order."""
    return [
        Marked(passage, piece, mark, before(piece.block, mark))
        for passage in found
        for piece in passage.pieces
        for mark in piece.marks
    ]


def check(every: list[Marked], data: Relations, file: str) -> Iterator[Finding]:
    """Each mark's figure against the row and column it names."""
    rows = _rows(every, data)
    instead: dict[Mark, str] = {}
    for each in every:
        status, expected, why = _judged(each, data, rows, instead)
        claim = each.printed.text if each.printed else _words_before(each)
        told = each.source if why is None else f"{each.source}: {why}"
        yield Finding(each.line, status, claim, expected, told, CHECK, file)


Rows = dict[tuple[str, tuple[tuple[str, str], ...]], list[dict[str, object]]]


def _rows(every: list[Marked], data: Relations) -> Rows:
    """All rows that marks name, one query for each relation and kind of key."""
    asked: dict[tuple[str, tuple[str, ...]], dict[tuple[str, ...], None]] = {}
    columns: dict[tuple[str, tuple[str, ...]], dict[str, None]] = {}
    for each in every:
        if _missing(each.mark, data) is None:
            names = tuple(name for name, _ in each.mark.key)
            shape = (each.mark.relation, names)
            asked.setdefault(shape, {})[tuple(value for _, value in each.mark.key)] = None
            also = [name for name in RANKED.get(each.mark.relation, ()) if _has(data, each, name)]
            columns.setdefault(shape, {}).update(dict.fromkeys([each.mark.column, *also]))
    rows: Rows = {}
    for (relation, names), keys in asked.items():
        wanted = list(columns[relation, names])
        for key, found in data.looked_up(relation, names, keys, wanted).items():
            rows[relation, tuple(zip(names, key, strict=True))] = found
    return rows


def _has(data: Relations, each: Marked, column: str) -> bool:
    return column in data.columns[each.mark.relation]


def _missing(mark: Mark, data: Relations) -> str | None:
    """What of a mark the warehouse has no place for."""
    known = data.columns.get(mark.relation)
    if known is None:
        return f"this warehouse has no relation {mark.relation}"
    absent = [name for name in (*(key for key, _ in mark.key), mark.column) if name not in known]
    if absent:
        return f"{mark.relation} has no column {absent[0]} here"
    return None if mark.key else "the mark names no row"


def _judged(
    each: Marked, data: Relations, rows: Rows, instead: dict[Mark, str]
) -> tuple[str, str | None, str | None]:
    """Status, the value there should be, and a word where there is more to say."""
    mark, printed = each.mark, each.printed
    missing = _missing(mark, data)
    if missing is not None:
        return UNVERIFIABLE, None, missing
    if printed is None:
        return UNVERIFIABLE, None, "no number stands before the mark"
    found = rows.get((mark.relation, mark.key), [])
    if not found:
        if data.is_partial:
            return UNVERIFIABLE, None, "not among these figures"
        if any(is_redacted(value) for _, value in mark.key):
            return UNVERIFIABLE, None, "the key is redacted and these data are not"
        named = replace(mark, end=0, column="")
        if named not in instead and len(instead) < MOST_TOLD:
            instead[named] = _nearest(mark, data)
        return CONTRADICTED, instead.get(named, "another row"), "no such row"
    if _is_ranked_otherwise(each, found[0]):
        return UNVERIFIABLE, None, "findings are ranked otherwise in these data"
    values = [number_of(row[mark.column]) for row in found]
    if len(set(values)) > 1:
        return UNVERIFIABLE, None, "the key names several rows"
    if values[0] is None and not isinstance(found[0][mark.column], (int, float, type(None))):
        return UNVERIFIABLE, None, "the column holds no number"
    if printed.agrees(values[0]):
        return VERIFIED, printed.text, None
    return CONTRADICTED, printed.like(values[0]), None


def _is_ranked_otherwise(each: Marked, row: dict[str, object]) -> bool:
    names = [row.get(name) for name in RANKED.get(each.mark.relation, ())]
    text = each.passage.text
    return any(isinstance(name, str) and name not in text for name in names)


def _nearest(mark: Mark, data: Relations) -> str:
    """The values there are of the part of the key that is most likely wrong."""
    for place in reversed(range(len(mark.key))):
        name, value = mark.key[place]
        others = mark.key[:place] + mark.key[place + 1 :]
        found = (
            data.looked_up(
                mark.relation,
                [key for key, _ in others],
                [tuple(part for _, part in others)],
                [name],
            )
            if others
            else {(): [{name: row[name]} for row in data.table(mark.relation)]}
        )
        known = sorted({str(row[name]) for rows in found.values() for row in rows})
        if known:
            close = difflib.get_close_matches(value, known[:10_000], MOST_NAMES, 0.0)
            return f"{name} is none of those there, such as {', '.join(close)}"
    return "no row of this key"


def _words_before(each: Marked) -> str:
    return each.piece.block.text[max(0, each.mark.end - 40) : each.mark.end].strip() or "(nothing)"
