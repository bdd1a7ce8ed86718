"""Marks of figures and names -> a source comment per block: which column was printed as what.

Behind a paragraph or an item each row that it prints from is a comment of pairs, `column = text`.
Behind a table one comment names the columns its rows are found by and the heads of the others.
`pipeline.package.sources` reads both again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import unquote

from .declared import EVERY, plain_words
from .figures import BOUND, MARK, Row
from .filters import CHART, literal, restored, settled

BLANKS = re.compile(r"\n\n+")
ANY_MARK = re.compile(rf"{MARK.pattern}|{BOUND.pattern}")
PRINTED = re.compile(r"(?:below |under )?[+\u2212-]?(?:n/a|[\d.,]*\d%?)\Z")
ITEM = re.compile(r"(?:[-*]|\d+\.) ")
# Items that a label binds to what they cite, such as the fail and pass of a card.
LABELLED = re.compile(r"- (?:fail|pass|cause): ")
PIPE = re.compile(r"(?<!\\)\|")
# Texts that need no quotes in a comment.
PLAIN = re.compile(r"[\w.%+\u2212@^/#:<>=*` -]*(?:,\d[\w.%,]*)*[\w.%@^/#:<>=*`-]")
# Texts that a comment cannot contain: it would end there, or read as another one.
ENDS_COMMENT = re.compile(r"--!?>|<!--|\n")
CUT = "~"
LONGEST = 200
# The longest figure that is printed; searching further back would take longer.
LONGEST_FIGURE = 200
# Columns of a key that are left out if the others are enough.
IMPLIED = ("benchmark", "kind", "metric", "policy", "effect")
VERSUS = " vs "


class Mark(NamedTuple):
    """A text as it is printed, and where it comes from."""

    place: str
    column: str
    # Empty if a comment cannot contain it.
    text: str
    start: int
    end: int
    is_name: bool


@dataclass(frozen=True)
class Sources:
    """The rows of a report by table, from which the sources of its blocks are written."""

    tables: Mapping[str, Sequence[Row]]
    # Rows by relation and place, found when they are first asked for.
    _placed: dict[str, dict[str, Row]] = field(default_factory=dict)
    # How many rows of a relation have the same values of some columns.
    _keys: dict[tuple[str, ...], Counter[tuple[object, ...]]] = field(default_factory=dict)

    def written(self, text: str) -> str:
        """Markdown without marks, each block followed by its sources."""
        blocks = BLANKS.split(CHART.sub("", text).strip())
        return "\n\n".join(self._block(block.strip("\n")) for block in blocks if block.strip())

    def _block(self, block: str) -> str:
        lines = block.split("\n")
        if lines[0].startswith("|") and len(lines) > 2:
            shown = [settled(ANY_MARK.sub("", line)) for line in lines]
            return "\n".join([*shown, *self._table(lines)])
        starts = [no for no, line in enumerate(lines) if not no or ITEM.match(line)]
        written = []
        for start, end in pairwise([*starts, len(lines)]):
            bare, marks = _read("\n".join(lines[start:end]))
            written.append("\n".join(map(settled, bare.split("\n"))))
            item = ITEM.match(bare)
            indent = " " * item.end() if item else ""
            if bare.startswith("#") or LABELLED.match(bare):
                marks = [mark for mark in marks if not mark.is_name]
            written += [f"{indent}<!-- {source} -->" for source in self._pairs(bare, marks)]
        return "\n".join(written)

    def _pairs(self, bare: str, marks: Iterable[Mark]) -> Iterator[str]:
        """A comment for each row that a paragraph or an item prints from."""
        by_place: dict[str, list[Mark]] = {}
        for mark in marks:
            is_bound = mark.is_name or PRINTED.fullmatch(mark.text)
            if is_bound and mark.text and not mark.column.endswith(CUT):
                by_place.setdefault(mark.place, []).append(mark)
        bindings: list[tuple[Row, list[str]]] = []
        for place, own in by_place.items():
            if place.startswith("sql?"):
                ordered = sorted(own, key=lambda mark: mark.column)
                texts = ", ".join(quoted(mark.text) for mark in ordered)
                yield f"sql: {unquote(place.removeprefix('sql?'))} = {texts}"
                continue
            if not any(_claims(mark, bare) for mark in own):
                continue
            row = self._row(place)
            bindings.append((row, [_pair(row, mark) for mark in _joined(bare, own)]))
        yield from self._together_by_key(bindings)

    def _together_by_key(self, bindings: list[tuple[Row, list[str]]]) -> Iterator[str]:
        """Comments of rows; rows that differ in one printed key share a comment."""
        while bindings:
            row = bindings[0][0]
            own = [each for each in bindings if each[0].relation == row.relation]
            bindings = [each for each in bindings if each[0].relation != row.relation]
            varying = [name for name in row.key if len({each.values[name] for each, _ in own}) > 1]
            by = varying[0] if len(varying) == 1 else ""
            if by and all(by in each and len(each) > 1 for _, each in own):
                needed = {name for each, _ in own for name in self._key(each)} - {by}
                where = _where(row, [name for name in row.key if name in needed])
                without = [(each, [one for one in bound if one != by]) for each, bound in own]
                parts = _grouped([(literal(each.values[by]), bound) for each, bound in without])
                yield f"from {row.relation}{where} by {by}: {', '.join(parts)}"
                continue
            for each, bound in own:
                yield self._alone(each, bound)

    def _alone(self, row: Row, bound: Sequence[str]) -> str:
        """The comment of one row; a key that the block prints is written once."""
        key = self._key(row)
        sides = [each.split(f" || '{VERSUS}' || ") for each in bound]
        printed = [side for side in sides if set(side) <= set(key)] if len(bound) > 1 else []
        if not printed:
            return f"from {row.relation}{_where(row, key)}: {', '.join(bound)}"
        # Two sides of a comparison, else the key that says most of the row.
        own = max(printed, key=lambda side: (len(side), key.index(side[0])))
        where = _where(row, [name for name in key if name not in own])
        by, value = bound[sides.index(own)], VERSUS.join(str(row.values[name]) for name in own)
        rest = ", ".join(one for one in bound if one != by)
        return f"from {row.relation}{where} by {by}: {literal(value)} ({rest})"

    def _key(self, row: Row) -> list[str]:
        """The columns that identify a row, without implied ones that it does not need."""
        key = list(row.key)
        implied = (*IMPLIED, *(name for name in row.key if row.values[name] == ""))
        for name in implied if _is_whole(row.relation) else ():
            rest = [each for each in key if each != name]
            if rest and len(rest) < len(key) and self._is_one(row, rest):
                key = rest
        return key

    def _is_one(self, row: Row, names: Sequence[str]) -> bool:
        """Whether these columns find this row alone."""
        known = self._keys.setdefault((row.relation, *names), Counter())
        if not known:
            self._row(row.place)
            rows = self._placed[row.relation].values()
            known.update(tuple(each.values[name] for name in names) for each in rows)
        return known[tuple(row.values[name] for name in names)] == 1

    def _table(self, lines: Sequence[str]) -> Iterator[str]:
        heads = [restored(ANY_MARK.sub("", head)).strip() for head in _cells(lines[0])]
        # By relation: its rows, what is bound below each head, and the words between keys.
        by_relation: dict[str, list[list[tuple[int, str, list[Mark]]]]] = {}
        for line in lines[2:]:
            of_line: dict[str, list[tuple[int, str, list[Mark]]]] = {}
            for no, (bare, marks) in enumerate(map(_read, _cells(line))):
                for relation in dict.fromkeys(mark.place.partition("?")[0] for mark in marks):
                    own = [mark for mark in marks if mark.place.partition("?")[0] == relation]
                    of_line.setdefault(relation, []).append((no, bare, own))
            for relation, cells in of_line.items():
                by_relation.setdefault(relation, []).append(cells)
        for relation, printed in by_relation.items():
            yield self._keyed(relation, printed, heads)

    def _keyed(
        self, relation: str, printed: list[list[tuple[int, str, list[Mark]]]], heads: Sequence[str]
    ) -> str:
        rows = [self._row(cells[0][2][0].place) for cells in printed]
        key = rows[0].key
        by: dict[int, str] = {}
        columns: dict[int, list[str]] = {}
        shown = set()
        for cells in printed:
            for no, bare, marks in cells:
                names = [mark.column.removesuffix(CUT) for mark in marks]
                if all(mark.is_name for mark in marks) and set(names) <= set(key):
                    by[no] = _expression(bare, marks)
                    shown |= set(names)
                elif len(names) > len(columns.get(no, [])):
                    columns[no] = names
        hidden = [name for name in key if name not in shown]
        needed = {name for row in rows for name in self._key(row)}
        hidden = [name for name in hidden if name in needed]
        fixed = [name for name in hidden if len({row.values[name] for row in rows}) == 1]
        where = _where(rows[0], fixed)
        if rest := [name for name in hidden if name not in fixed]:
            listed = dict.fromkeys(
                _together([literal(row.values[name]) for name in rest]) for row in rows
            )
            among = f"{_together(rest)} in ({', '.join(listed)})"
            where += f"{' and ' if where else ' where '}{among}"
        keys = ", ".join(_headed(name, heads[no]) for no, name in sorted(by.items()))
        bound = ", ".join(
            _headed(name, heads[no]) for no, names in sorted(columns.items()) for name in names
        )
        return f"<!-- from {relation}{where}{f' by {keys}' if keys else ''}: {bound} -->"

    def _row(self, place: str) -> Row:
        relation = place.partition("?")[0]
        if relation not in self._placed:
            own = (rows for rows in self.tables.values() if rows and rows[0].relation == relation)
            self._placed[relation] = {row.place: row for rows in own for row in rows}
        return self._placed[relation][place]


@cache
def _is_whole(relation: str) -> bool:
    """Whether a report reads all rows of a relation."""
    return any(table.is_whole for table in EVERY.values() if table.relation == relation)


def quoted(text: str) -> str:
    """A printed text in a comment: as it is where nothing in it could be taken for more."""
    return text if PLAIN.fullmatch(text) else "'" + text.replace("'", "''") + "'"


def _read(text: str) -> tuple[str, list[Mark]]:
    """Markdown without its marks, and the text before each of them."""
    bare, marks, last = "", [], 0
    for match in ANY_MARK.finditer(text):
        bare += text[last : match.start()]
        last = match.end()
        source = match["source"] or match[1]
        place, _, column = source.rpartition("#")
        if match["n"]:
            start = len(bare) - int(match["n"])
        else:
            # A figure has no space but the one behind its first word.
            word = bare.rfind(" ") - len("below")
            printed = PRINTED.search(bare, max(word, len(bare) - LONGEST_FIGURE, 0))
            start = printed.start() if printed else len(bare)
        printed_text = restored(bare[start:])
        if printed_text.startswith("`"):
            printed_text = printed_text.strip("`").strip()
        if len(printed_text) > LONGEST or ENDS_COMMENT.search(printed_text):
            printed_text = ""
        marks.append(Mark(place, column, printed_text, start, len(bare), bool(match["n"])))
    return bare + text[last:], marks


def _claims(mark: Mark, bare: str) -> bool:
    """Whether it is more than a name: a figure, a sentence, an answer, two sides."""
    is_said = " " in mark.text and any(map(str.isdigit, mark.text))
    return not mark.is_name or is_said or not mark.column.isidentifier() or VERSUS in bare


def _joined(bare: str, marks: Sequence[Mark]) -> Iterator[Mark]:
    """The marks, with the two sides of a comparison as one, so that they cannot be exchanged."""
    rest = list(marks)
    while rest:
        mark = rest.pop(0)
        other = rest[0] if rest else None
        if other and mark.is_name and other.is_name and bare[mark.end : other.start] == VERSUS:
            rest.pop(0)
            column = f"{mark.column} || '{VERSUS}' || {other.column}"
            text = f"{mark.text}{VERSUS}{other.text}"
            yield Mark(mark.place, column, text, mark.start, other.end, is_name=True)
        else:
            yield mark


def _pair(row: Row, mark: Mark) -> str:
    """A column and its text, which a name that is printed unchanged does not need."""
    column = unquote(mark.column)
    if mark.is_name and (VERSUS in column or _value(row, column) == mark.text):
        return column
    return f"{column} = {quoted(mark.text)}"


def _grouped(values: Sequence[tuple[str, Sequence[str]]]) -> Iterator[str]:
    """Each value with its pairs; a figure of the same column as in the value before is bare."""
    before: list[str] = []
    for value, bound in values:
        # Figures first, so that names of a single value do not move them.
        pairs = sorted((each.partition(" = ") for each in bound), key=lambda pair: not pair[2])
        columns = [column for column, *_ in pairs]
        is_alike = columns == before[: len(columns)]
        written = [
            text if is_alike and PRINTED.fullmatch(text) else f"{column}{equals}{text}"
            for column, equals, text in pairs
        ]
        before = columns
        yield f"{value} ({', '.join(written)})"


def _value(row: Row, column: str) -> object:
    """What a column of a row is, or an item of one that is a list."""
    item = re.fullmatch(r"(\w+)\[(\d+)\]", column)
    return row.values[item[1]][int(item[2]) - 1] if item else row.values.get(column)


def _expression(bare: str, marks: Sequence[Mark]) -> str:
    """What a cell of keys prints, as SQL: its columns with the words between them."""
    parts, last = [], 0
    for mark in marks:
        between = bare[last : mark.start].strip("`") if last else ""
        parts += [literal(between)] if between else []
        parts.append(mark.column.removesuffix(CUT))
        last = mark.end
    return " || ".join(parts)


def _where(row: Row, names: Sequence[str]) -> str:
    conditions = [
        f"{name} is null" if row.values[name] is None else f"{name} = {literal(row.values[name])}"
        for name in names
    ]
    return f" where {' and '.join(conditions)}" if conditions else ""


def _headed(name: str, head: str) -> str:
    """A column, with its head where that is not the usual one."""
    return name if head == plain_words(name) else f"{name} as {quoted(head)}"


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in PIPE.split(line.strip())[1:-1]]


def _together(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
