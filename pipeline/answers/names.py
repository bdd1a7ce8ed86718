"""Look up runs and tasks by name, and shorten values: shared by all answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import matching, resolved

if TYPE_CHECKING:
    from ..warehouse import Warehouse

Row = dict[str, Any]
LONGEST_WORD = 200


def grouped(rows: Iterable[Row], key: str) -> dict[str, list[Row]]:
    """Group rows by a column, which is removed from them."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.pop(key)].append(row)
    return groups


def bounded(text: str | None, limit: int, *, n_characters: int | None = None) -> Row | None:
    """The beginning of a text and its full length; None if there is no text.

    `n_characters` is the full length if the text itself is cut.
    """
    if text is None:
        return None
    return {"text": text[:limit], "n_characters": max(n_characters or 0, len(text))}


def short(name: str | None) -> str | None:
    """A name from a model or file, shortened if it is too long."""
    return name if name is None or len(name) <= LONGEST_WORD else name[: LONGEST_WORD - 1] + "…"


def run_names(warehouse: Warehouse) -> list[str]:
    return warehouse.column("select run_id from runs order by all")


def full_name(warehouse: Warehouse, name: str) -> str:
    """The name of the run that has this alias; any other name as it is."""
    return next(iter(warehouse.column("select run_id from runs where alias = ?", name)), name)


def find_run(warehouse: Warehouse, name: str, *, within: str | None = None) -> Row:
    """The run of a name, its alias or a part of it; runs of `within` are preferred."""
    known = run_names(warehouse)
    if name not in known:
        name = full_name(warehouse, name)
    if within is not None and name not in known:
        query = "select run_id from runs where benchmark = ? order by all"
        near = matching(name, warehouse.column(query, within))
        known = near if len(near) == 1 else known
    (run,) = warehouse.rows("from runs where run_id = ?", resolved("run", name, known))
    return run


def task_names(warehouse: Warehouse, run: Row) -> list[str]:
    """The tasks of the run and of its benchmark, since a run may lack some of them."""
    query = """
        select task_id from task_outcomes where run_id = ?
        union select task_id from tasks where benchmark = ?
        order by try_cast(task_id as bigint), task_id
    """
    return warehouse.column(query, run["run_id"], run["benchmark"])


def find_task(run: Row, name: str, known: Sequence[str]) -> str:
    """The task of a name or a part of it."""
    return resolved("task", name, known, within=f" in run {run['run_id']}")
