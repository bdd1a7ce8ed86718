"""The parts of a warehouse: selects, tables that Python computes, and tables of rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

REFERENCE = re.compile(r"\b(?:from|join)\s+((?:staging|main|report|assertions)\.\w+)")


@dataclass(frozen=True)
class Relation:
    """A select and its header; it has no rows if one of its `needs` has none.

    A step is a table that is dropped once all relations exist.
    """

    name: str
    purpose: str
    grain: tuple[str, ...]
    is_table: bool
    query: str
    needs: tuple[str, ...] = field(default=(), kw_only=True)
    is_step: bool = field(default=False, kw_only=True)

    @property
    def reads(self) -> list[str]:
        """The relations that it selects from."""
        return sorted(set(REFERENCE.findall(self.query)))


@dataclass(frozen=True)
class Computed(Relation):
    """A table computed in Python: `compute` transforms the rows of its query."""

    compute: Callable[[pa.Table], pa.Table]


def computed(name: str, compute: Callable[[pa.Table], pa.Table]) -> Computed:
    """A table that `compute` makes from the query in the file of this name."""
    return Computed(name, "", (), True, "", compute)


def create_table(
    db: duckdb.DuckDBPyConnection, name: str, columns: str, rows: Sequence[tuple[Any, ...]] = ()
) -> None:
    """Create a table with these rows."""
    db.execute(f"create table {name} ({columns})")
    append(db, name, rows)


def append(db: duckdb.DuckDBPyConnection, name: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows by position; values are cast to the table's own types.

    One statement for all: a statement per row takes a millisecond each.
    """
    import pyarrow as pa

    if rows:
        columns = {str(place): list(column) for place, column in enumerate(zip(*rows, strict=True))}
        db.register("appended", pa.table(columns))
        db.execute(f"insert into {name} from appended")
        db.unregister("appended")
