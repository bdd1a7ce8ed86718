"""Names as people give them, and values as programs read them: what all answers share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pipeline.errors import matching, resolved

if TYPE_CHECKING:
    from pipeline.warehouse import Warehouse

Row = dict[str, Any]
LONGEST_WORD = 200


def grouped(found: Iterable[Row], key: str) -> dict[str, list[Row]]:
    """Rows by one of their columns, which they then lack."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in found:
        groups[row.pop(key)].append(row)
    return groups


def bounded(text: str | None, limit: int, *, n_characters: int | None = None) -> Row | None:
    """The beginning of a text, with the length of the whole; none where there is no text.

    `n_characters` is the whole's where the text is itself a beginning.
    """
    if text is None:
        return None
    return {"text": text[:limit], "n_characters": max(n_characters or 0, len(text))}


def short(name: str | None) -> str | None:
    """A name that a model or a file made up, cut where it is too long for one."""
    return name if name is None or len(name) <= LONGEST_WORD else name[: LONGEST_WORD - 1] + "…"


def run_names(warehouse: Warehouse) -> list[str]:
    """Every run of the warehouse."""
    return warehouse.column("select run_id from runs order by all")


def find_run(warehouse: Warehouse, name: str, *, within: str | None = None) -> Row:
    """The run meant by a name or a part of it; of several those of one benchmark come first."""
    known = run_names(warehouse)
    if within is not None and name not in known:
        query = "select run_id from runs where benchmark = ? order by all"
        near = matching(name, warehouse.column(query, within))
        known = near if len(near) == 1 else known
    (found,) = warehouse.rows("from runs where run_id = ?", resolved("run", name, known))
    return found


def task_names(warehouse: Warehouse, run: Row) -> list[str]:
    """Tasks of the run and of its benchmark: that a run lacks a task can be asked about too."""
    query = """
        select task_id from task_outcomes where run_id = ?
        union select task_id from tasks where benchmark = ?
        order by try_cast(task_id as bigint), task_id
    """
    return warehouse.column(query, run["run_id"], run["benchmark"])


def find_task(run: Row, name: str, known: Sequence[str]) -> str:
    """The task meant by a name or a part of it."""
    return resolved("task", name, known, within=f" in run {run['run_id']}")
