"""A report's negative control: its tables of aggregate figures, by what stands in them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipeline.package.blocks import PIPE, Block, read
from pipeline.package.verify.units import FORMS, units

COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
KEY, DETAIL, METRIC, EVIDENCE, NUMBER, CLAIM = (
    re.compile(FORMS["aggregates"][name])
    for name in ("key", "detail", "metric", "evidence", "number", "claim")
)
MOST_WORDS = 6


@dataclass(frozen=True)
class Shallow:
    """The text of the control, and how much of the report it holds."""

    text: str
    n_headings: int
    n_tables: int


def shallow(text: str) -> Shallow:
    """The tables, each below the headings it stands under; without any, the headings alone."""
    report = read(COMMENT.sub("", text))
    lines, every = report.text.split("\n"), units(report)
    tasks = {each.task_id for unit in every for each in unit.cited}
    telling = {
        each.block for each in every if each.cites or each.tasks or EVIDENCE.search(each.text)
    }
    pieces: list[tuple[int, str]] = []  # the level of a heading, 0 for a table
    for block in report.blocks:
        title = lines[block.line - 1].strip()
        if block.kind == "heading" and block not in telling and not CLAIM.search(title):
            pieces.append((len(title) - len(title.lstrip("#")), title))
        elif block.kind == "table" and (table := _aggregate(block, lines, tasks)):
            pieces.append((0, table))
    n_tables = sum(not level for level, _ in pieces)
    if n_tables:
        pieces = [each for place, each in enumerate(pieces) if _has_table(pieces[place:])]
    else:
        pieces = [each for each in pieces if each[0] <= 2]
    told = "\n\n".join(piece for _, piece in pieces)
    return Shallow(f"{told}\n", len(pieces) - n_tables, n_tables)


def _has_table(pieces: list[tuple[int, str]]) -> bool:
    """Whether it is a table, or a heading with one before the next heading as high as it."""
    first = pieces[0][0]
    return not first or not next((n for n, _ in pieces[1:] if n <= first), 1)


def _aggregate(block: Block, lines: list[str], tasks: set[str]) -> str:
    """The table without columns of evidence; nothing where it is none of aggregates."""
    at = block.line - 1
    heads, rule, *body = [_cells(line) for line in lines[at : at + 2 + len(block.rows)]]
    columns = [[row[place] for row in body if place < len(row)] for place in range(len(heads))]
    kept = [place for place in range(1, len(heads)) if _is_figures(heads[place], columns[place])]
    labels = columns[0] if columns else []
    is_named = bool(KEY.fullmatch(heads[0].strip("*_` "))) or any(
        METRIC.search(heads[place]) for place in kept
    )
    n_metrics = sum(METRIC.search(label) is not None for label in labels)
    is_told = any(
        EVIDENCE.search(label) or len(label.split()) > MOST_WORDS or label.strip("`* ") in tasks
        for label in labels
        if not (label.isdigit() and KEY.fullmatch(heads[0]))
    )
    if not (labels and kept) or is_told or DETAIL.search(heads[0]):
        return ""
    if not is_named and 2 * n_metrics < len(labels):
        return ""
    shown = (
        [row[place] for place in (0, *kept) if place < len(row)] for row in (heads, rule, *body)
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
