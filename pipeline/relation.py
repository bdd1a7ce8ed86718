"""What the warehouse is made of: selects, tables that Python computes, and tables of given rows."""

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
    """A select with what its header says of it; it has no row where one of its needs has none.

    A step is a table that only tables are made of: once they stand, it goes.
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
        """The relations of ours it selects from."""
        return sorted(set(REFERENCE.findall(self.query)))


@dataclass(frozen=True)
class Computed(Relation):
    """A table that SQL alone cannot make: the rows of its query, as `compute` turns them."""

    compute: Callable[[pa.Table], pa.Table]


def computed(name: str, compute: Callable[[pa.Table], pa.Table]) -> Computed:
    """A table of what `compute` makes of the rows of the file of this name."""
    return Computed(name, "", (), True, "", compute)


def create_table(
    db: duckdb.DuckDBPyConnection, name: str, columns: str, rows: Sequence[tuple[Any, ...]] = ()
) -> None:
    """A table of these rows."""
    db.execute(f"create table {name} ({columns})")
    append(db, name, rows)


def append(db: duckdb.DuckDBPyConnection, name: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows by position; values are cast to the table's own types.

    A statement per row takes a millisecond each, and a million tasks may be expected.
    """
    import pyarrow as pa

    if rows:
        columns = {str(place): list(column) for place, column in enumerate(zip(*rows, strict=True))}
        db.register("appended", pa.table(columns))
        db.execute(f"insert into {name} from appended")
        db.unregister("appended")
