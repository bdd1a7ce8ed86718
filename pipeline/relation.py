"""The parts of a warehouse: selects, what Python computes of their rows, and tables of rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

Compute: TypeAlias = "Callable[[pa.Table], pa.Table]"

# Without `\b`, which would make the search several times slower.
REFERENCE = re.compile(r"(?:from|join)\s+((?:staging|main|report|assertions)\.\w+)")


@dataclass(frozen=True)
class Computation:
    """A function of Python that transforms the rows of a query, or of its CTE `rows`.

    In batches where it looks at each row by itself and rows are long.
    """

    function: str
    rows: str = ""
    is_in_batches: bool = False
    compute: Compute | None = None

    @property
    def name(self) -> str:
        """What the rest of the query calls the rows that come out: `temp.name`."""
        return self.function.rpartition(".")[2]


@dataclass(frozen=True)
class Relation:
    """A select and its header; it has no rows if all alternatives of one of its `needs` have none.

    A step is a table that is dropped once all relations exist. `computations` run in order.
    A row depends on what it `looks_at`, of the rows that are read: one rollout, a task, a run with
    others of its benchmark, or all; and on the small relations `beside` them.
    """

    name: str
    purpose: str
    grain: tuple[str, ...]
    is_table: bool
    query: str
    needs: tuple[tuple[str, ...], ...] = field(default=(), kw_only=True)
    is_step: bool = field(default=False, kw_only=True)
    computations: tuple[Computation, ...] = field(default=(), kw_only=True)
    looks_at: str = field(default="", kw_only=True)
    beside: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def reads(self) -> list[str]:
        return sorted(set(REFERENCE.findall(self.query)))


def create_table(
    db: duckdb.DuckDBPyConnection, name: str, columns: str, rows: Sequence[tuple[Any, ...]] = ()
) -> None:
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
