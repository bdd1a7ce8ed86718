"""Rows of the warehouse as plain values, and what there is where a name leads nowhere."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pipeline.cli.options import DEFAULT_WAREHOUSE
from pipeline.errors import no_such
from pipeline.warehouse import Warehouse

Row = dict[str, Any]

LONGEST_WORD = 200


def rows(warehouse: Warehouse, query: str, *values: Any) -> list[Row]:
    """The rows of a query, each by column name."""
    result = warehouse.execute(query, list(values))
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def column(warehouse: Warehouse, query: str, *values: Any) -> list[Any]:
    """The first column of a query."""
    return [row[0] for row in warehouse.execute(query, list(values)).fetchall()]


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
    """A name that is whatever a model or a file made up, cut where it is too long for one."""
    return name if name is None or len(name) <= LONGEST_WORD else name[: LONGEST_WORD - 1] + "…"


def run_names(warehouse: Warehouse) -> list[str]:
    """Every run of the warehouse."""
    return column(warehouse, "select run_id from runs order by all")


def known_run(warehouse: Warehouse, run_id: str) -> Row:
    """The run of this name, or an error that says which there are."""
    for found in rows(warehouse, "from runs where run_id = ?", run_id):
        return found
    raise no_such("run", run_id, run_names(warehouse))


def command(name: str, argument: str, warehouse: Path) -> str:
    """A command to run next, quoted for a shell: names come from untrusted files."""
    return shlex.join(["blade", name, argument]) + where(warehouse)


def where(warehouse: Path) -> str:
    """What completes a command that reads this warehouse."""
    path = shlex.quote(str(warehouse))
    return "" if warehouse == DEFAULT_WAREHOUSE else f" --warehouse {path}"
