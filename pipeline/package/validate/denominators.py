"""Percentages of a report, and whether a reader can tell what each is a part of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.package.numbers import Number, numbers
from pipeline.package.reading import Block, Reading, Section, Table

COUNT = r"(?:\d[\d,]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
STATED = re.compile(
    rf"\b(?:of|over|across|from|in|among|all|both)\s+(?:the\s+|all\s+|its\s+|these\s+)?{COUNT}\b"
    rf"|\d\s?/\s?\d|\bn\s?=\s?\d|\b{COUNT}\s+(?:\w+[ -]){{0,2}}"
    r"(?:tasks?|rollouts?|attempts?|rows?|failures?|calls?|runs?|passes|repeats)\b",
    re.IGNORECASE,
)


def bare_percentages(reading: Reading) -> tuple[int, list[tuple[int, str]]]:
    """How many percentages there are, and those that nothing near says the whole of."""
    found = [each for section in reading.sections for each in _of_section(section)]
    return len(found), [(line, text) for line, text, is_stated in found if not is_stated]


def _of_section(section: Section) -> Iterator[tuple[int, str, bool]]:
    before = section.title
    for part in section.parts:
        if isinstance(part, Table):
            yield from _of_table(part, before)
            before = ""
        elif part.kind != "fence":
            yield from _of_block(part, before)
            before = part.text if part.kind != "item" else before


def _of_block(block: Block, before: str) -> Iterator[tuple[int, str, bool]]:
    """In prose the paragraph says it, or what leads to it."""
    is_stated = STATED.search(block.text) or STATED.search(before)
    for number in _percentages(block):
        yield block.line_at(number.start), number.text, bool(is_stated) or _marked(block, number)


def _of_table(table: Table, before: str) -> Iterator[tuple[int, str, bool]]:
    """In a table its row has a count, or its head or what leads to it says the whole."""
    heads = " | ".join(cell.text for cell in table.header)
    is_stated = bool(STATED.search(heads) or STATED.search(before))
    for row in table.rows:
        texts = [cell.text for cell in row.cells]
        has_count = any(
            not number.unit and not number.decimals
            for cell in row.cells[1:]
            for number in numbers(cell)
        )
        is_row_stated = is_stated or has_count or bool(STATED.search(" | ".join(texts)))
        for cell in row.cells:
            for number in _percentages(cell):
                yield row.line, number.text, is_row_stated or _marked(cell, number)


def _percentages(block: Block) -> list[Number]:
    return [number for number in numbers(block) if number.unit == "percent"]


def _marked(block: Block, number: Number) -> bool:
    """A mark names the relation, and with it the whole."""
    return any(mark.end == number.end for mark in block.marks)
