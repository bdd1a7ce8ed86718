"""A report as passages: sentences, headings and rows, each number, mark and citation in place."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from pipeline.citation import Citation
from pipeline.package.numbers import Number, Ratio, numbers, ratios
from pipeline.package.reading import Block, Mark, Reading, Row, Section, Table
from pipeline.package.statements import citations, sentences

LONGEST_SENTENCE = 2_000
# Columns whose cells repeat what a trajectory says, or what was asked.
QUOTING = re.compile(
    r"where (?:they|the two) diverge|last words|errors?|final (?:words|message|answer)|quotes?|"
    r"excerpt|"
    r"what (?:it|the (?:model|agent|rollout)) (?:said|says|did)|decisive (?:call|step|event)",
    re.IGNORECASE,
)
ASKED = re.compile(r"asked|prompt|request|question|instruction", re.IGNORECASE)
ASKED_START = re.compile(r"\s*(?:Asked|Prompt|Request|Question):\s+")
OF_TASK = re.compile(r"\btask\b", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Piece:
    """A stretch of a block that a passage is made of: a sentence of it, or a whole cell."""

    block: Block
    start: int
    end: int
    numbers: tuple[Number, ...]
    ratios: tuple[Ratio, ...]
    # The head of its column, where it is a cell.
    head: str = ""
    # Whether it repeats words of a task or a trajectory: what those say is no claim of the report.
    is_quoting: bool = False

    @property
    def text(self) -> str:
        """What a reader sees of it."""
        return self.block.text[self.start : self.end]

    @cached_property
    def marks(self) -> list[Mark]:
        """The marks in it."""
        return self._marks(self.start, self.end)

    @cached_property
    def codes(self) -> list[tuple[int, int]]:
        """Where its code spans stand in the block."""
        codes = self.block.codes
        return list(codes[bisect_left(codes, (self.start, 0)) : bisect_left(codes, (self.end, 0))])

    @cached_property
    def citations(self) -> list[Citation]:
        """What it cites, in order."""
        return citations(self.block, self.start, self.end, is_bare=not self.is_quoting)

    @cached_property
    def ratio_at(self) -> dict[int, Ratio]:
        """The ratio that the number at a place is the part or, where of no other, the whole of."""
        wholes = {ratio.whole.start: ratio for ratio in reversed(self.ratios)}
        return wholes | {ratio.part.start: ratio for ratio in self.ratios}

    @cached_property
    def wholes(self) -> frozenset[int]:
        """Where the wholes of its ratios stand."""
        return frozenset(ratio.whole.start for ratio in self.ratios)

    def line_at(self, offset: int) -> int:
        """The line of the file that a place in the block stands on."""
        return self.block.line_at(offset)

    def mark_of(self, number: Number) -> Mark | None:
        """The mark that stands within a number or right behind it."""
        return next(iter(self._marks(number.start, number.end)), None)

    def _marks(self, start: int, end: int) -> list[Mark]:
        """Those that stand behind the first place, up to the second."""
        marks = self.block.marks
        first, last = (bisect_right(marks, place, key=_end) for place in (start, end))
        return list(marks[first:last])


@dataclass(frozen=True, eq=False)
class Passage:
    """A sentence, a heading, a list item's sentence or a row of a table."""

    section: Section
    line: int
    pieces: tuple[Piece, ...]
    kind: str
    # Which table of the report it is a row of; -1 for text.
    table_no: int = -1

    @property
    def is_row(self) -> bool:
        """Whether it is a row of a table."""
        return self.kind == "row"

    @cached_property
    def text(self) -> str:
        """What a reader sees of it, cells apart."""
        return " | ".join(piece.text.strip() for piece in self.pieces)

    @cached_property
    def citations(self) -> list[Citation]:
        """All it cites, each once."""
        return list(dict.fromkeys(each for piece in self.pieces for each in piece.citations))

    @property
    def titles(self) -> tuple[str, ...]:
        """The headings it stands under, the nearest last."""
        return self.section.path


def _end(mark: Mark) -> int:
    return mark.end


def passages(reading: Reading) -> list[Passage]:
    """All passages of a report in order; fences hold none."""
    found: list[Passage] = []
    n_tables = 0
    for section in reading.sections:
        if section.heading is not None and section.heading.text:
            found += _of_block(section, section.heading, "heading")
        for part in section.parts:
            if isinstance(part, Table):
                heads = tuple(cell.text for cell in part.header)
                found += [_of_row(section, heads, row, n_tables) for row in part.rows]
                n_tables += 1
            elif part.kind != "fence":
                found += _of_block(section, part, "sentence")
    return found


def tables(found: list[Passage]) -> Mapping[int, list[Passage]]:
    """The rows of each table, by its number."""
    rows: dict[int, list[Passage]] = {}
    for passage in found:
        if passage.is_row:
            rows.setdefault(passage.table_no, []).append(passage)
    return rows


def _of_block(section: Section, block: Block, kind: str) -> Iterator[Passage]:
    all_numbers, all_ratios = numbers(block), ratios(block)
    starts = [number.start for number in all_numbers]
    places = [ratio.part.start for ratio in all_ratios]
    is_quoting = bool(
        ASKED_START.match(block.text) and section.path and OF_TASK.search(section.path[-1])
    )
    for start, end in _bounded(block):
        piece = Piece(
            block,
            start,
            end,
            tuple(all_numbers[bisect_left(starts, start) : bisect_left(starts, end)]),
            tuple(all_ratios[bisect_left(places, start) : bisect_left(places, end)]),
            is_quoting=is_quoting,
        )
        yield Passage(section, block.line_at(start), (piece,), kind)


def _bounded(block: Block) -> Iterator[tuple[int, int]]:
    """Sentences; what is too long to be one is cut at a blank, so that no text costs its square."""
    for start, end in sentences(block):
        while end - start > LONGEST_SENTENCE:
            cut = block.text.find(" ", start + LONGEST_SENTENCE, end)
            if cut < 0:
                break
            yield start, cut
            start = cut + 1
        yield start, end


def _of_row(section: Section, heads: tuple[str, ...], row: Row, table_no: int) -> Passage:
    named = ((cell, heads[at] if at < len(heads) else "") for at, cell in enumerate(row.cells))
    pieces = tuple(
        Piece(
            cell,
            0,
            len(cell.text),
            tuple(numbers(cell)),
            tuple(ratios(cell)),
            head,
            is_quoting=bool(QUOTING.fullmatch(head.strip()) or ASKED.fullmatch(head.strip())),
        )
        for cell, head in named
    )
    return Passage(section, row.line, pieces, "row", table_no)
