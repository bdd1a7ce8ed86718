"""A row of a table as a sentence of its own: each cell with the head of its column."""

from __future__ import annotations

import re

from pipeline.package.reading import Block, Row, Table

TASK = re.compile(r"tasks?", re.IGNORECASE)


def row_text(table: Table, row: Row) -> str:
    """`mode: TIMEOUT; rollouts: 4`; a task is named as in prose, so that it is known as one."""
    cells = zip(table.header, row.cells, strict=False)
    told = [(head.text.strip(), source(cell).strip()) for head, cell in cells]
    return "; ".join(_cell(head, cell) for head, cell in told if cell)


def source(block: Block) -> str:
    """A text with backquotes around its code, which names are known by."""
    text, end = "", 0
    for start, stop in block.codes:
        text += f"{block.text[end:start]}`{block.text[start:stop]}`"
        end = stop
    return text + block.text[end:]


def _cell(head: str, cell: str) -> str:
    if not head:
        return cell
    # Plain counts stand below the same head.
    is_name = TASK.fullmatch(head) and cell.startswith("`")
    return f"{head} {cell}" if is_name else f"{head}: {cell}"
