"""A report's negative control: its tables of aggregate figures, recognised by their content."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..report.wording import CAUSES
from .blocks import PIPE, Block, read
from .passages import passages

COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# What the rows of a table of aggregates are, by the head of their column, and what they never are.
KEY = re.compile(r"runs?|models?|agents?|buckets?|metrics?|stages?|steps?|slices?|k", re.IGNORECASE)
DETAIL = re.compile(
    r"\b(?:tasks?|problem|question|instance|ids?|attempt|modes?|failures?|errors?|causes?|why|reasons?"
    r"|evidence|examples?|quotes?|see|found|files?|fix)\b",
    re.IGNORECASE,
)
METRIC = re.compile(
    r"\bpass[@^_]|\bpass(?:ed)?[- ](?:at|rate)\b|accurac|success rate|\brewards?\b|\bscores?\b"
    r"|coverage|consistency|\btokens\b|\bturns\b|\b(?:always|sometimes|never)\b",
    re.IGNORECASE,
)
# A label of a cause or a mode, a citation, or a quotation.
EVIDENCE = re.compile(
    rf"\b(?:{'|'.join(CAUSES)}|[A-Z]{{2,}}(?:_[A-Z0-9]+)+)\b|\w=\w|[^\s/]/.*:\d|[\"“„«]"
)
NUMBER = re.compile(r"[\s\d.,:/%+−–()±~<>-]*(?:(?:of|to)[\s\d.,%+-]*)?|n/a")
# A heading that is a sentence, or says why, is a finding.
CLAIM = re.compile(r"(?:\S+\s+){9}|\b(?:because|causes?d?|why)\b", re.IGNORECASE)
MOST_WORDS = 6


@dataclass(frozen=True)
class Shallow:
    """The text of the control, and how much of the report it holds."""

    text: str
    n_headings: int
    n_tables: int


def shallow(text: str) -> Shallow:
    """The tables, each below its headings; without any, the headings alone."""
    report = read(COMMENT.sub("", text))
    lines, every = report.text.split("\n"), passages(report)
    tasks = {each.task_id for passage in every for *_, each in passage.cites}
    telling = {
        each.block
        for each in every
        if each.cites or EVIDENCE.search(each.text) or re.search(r"\btasks? `", each.text, re.I)
    }
    pieces: list[tuple[int, str]] = []  # the level of a heading, 0 for a table
    for block in report.blocks:
        title = lines[block.line - 1].strip()
        if block.kind == "heading" and block not in telling and not CLAIM.search(title):
            pieces.append((block.level, title))
        elif block.kind == "table" and (table := _aggregate(block, lines, tasks)):
            pieces.append((0, table))
    n_tables = sum(not level for level, _ in pieces)
    if n_tables:
        pieces = [each for place, each in enumerate(pieces) if _has_table(pieces[place:])]
    else:
        pieces = [each for each in pieces if each[0] <= 2]
    content = "\n\n".join(piece for _, piece in pieces)
    return Shallow(f"{content}\n", len(pieces) - n_tables, n_tables)


def _has_table(pieces: list[tuple[int, str]]) -> bool:
    """Whether it is a table, or a heading with one before the next heading as high as it."""
    first = pieces[0][0]
    return not first or not next((n for n, _ in pieces[1:] if n <= first), 1)


def _aggregate(block: Block, lines: list[str], tasks: set[str]) -> str:
    """The table without columns of evidence; nothing where it is none of aggregates."""
    at = block.line - 1
    heads, rule, *body = [_cells(line) for line in lines[at : at + 2 + len(block.rows)]]
    columns = [[row[place] for row in body if place < len(row)] for place in range(len(heads))]
    figures = [place for place in range(1, len(heads)) if _is_figures(heads[place], columns[place])]
    labels = columns[0] if columns else []
    is_named = bool(KEY.fullmatch(heads[0].strip("*_` "))) or any(
        METRIC.search(heads[place]) for place in figures
    )
    n_metrics = sum(METRIC.search(label) is not None for label in labels)
    is_detailed = any(
        EVIDENCE.search(label) or len(label.split()) > MOST_WORDS or label.strip("`* ") in tasks
        for label in labels
        if not (label.isdigit() and KEY.fullmatch(heads[0]))
    )
    if not (labels and figures) or is_detailed or DETAIL.search(heads[0]):
        return ""
    if not is_named and 2 * n_metrics < len(labels):
        return ""
    shown = (
        [row[place] for place in (0, *figures) if place < len(row)] for row in (heads, rule, *body)
    )
    return "\n".join(f"| {' | '.join(row)} |" for row in shown)


def _is_figures(head: str, cells: list[str]) -> bool:
    """Whether a column holds numbers and nothing that was found out."""
    n_numbers = sum(NUMBER.fullmatch(cell) is not None for cell in cells)
    is_clean = not any(map(EVIDENCE.search, (head, *cells)))
    return bool(cells) and is_clean and 2 * n_numbers >= len(cells)


def _cells(line: str) -> list[str]:
    cells = [cell.strip() for cell in PIPE.split(line.strip())]
    return cells[not cells[0] : len(cells) - (not cells[-1])]
