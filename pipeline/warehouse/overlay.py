"""Replace some relations of a warehouse and compute those that read them again, in memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from ..relation import Compute, Relation
from .build import SCHEMAS
from .reader import CATALOG, Warehouse, attached, lock_down, of_this_version
from .relations import (
    create_from,
    create_macros,
    create_relation,
    needed,
    relations,
)

if TYPE_CHECKING:
    import pyarrow as pa

RAW_REFERENCE = re.compile(r"\b(?:from|join)\s+(raw\.\w+)")

LISTED = """
    select
        table_schema || '.' || table_name,
        table_type
    from information_schema.tables
    where table_catalog = ?
    order by all
"""
COMPUTED = f"""
    select schema_name || '.' || table_name
    from duckdb_tables()
    where database_name <> '{CATALOG}'
    order by all
"""


def recompute(
    path: Path,
    sql_dir: Path,
    python: Iterable[Relation | Compute],
    *,
    replaced: Mapping[str, pa.Table],
    amended: Mapping[str, pa.Table] | None = None,
    emptied: Sequence[str] = (),
    unchanged: Sequence[str] = (),
    wanted: Sequence[str],
) -> Warehouse:
    """The wanted relations, computed as if `replaced` were in the warehouse; nothing is written.

    Tables of `raw` may be replaced too. `amended` relations are read by those computed again, but
    do not cause others to be computed again. `emptied` relations have no rows: they are slow to
    compute and not needed here. `unchanged` relations would have the same rows as before.
    """
    every = {relation.name: relation for relation in relations(sql_dir, python)}
    db = attached(path)
    # Before any query: the author of the file may have put code into its views.
    lock_down(db)
    with of_this_version(path):
        for schema in SCHEMAS:
            db.execute(f"create schema {schema}")
        create_macros(db, sql_dir)
        listed = dict(db.execute(LISTED, [CATALOG]).fetchall())
        stored = {name for name, kind in listed.items() if kind == "BASE TABLE"}
        # Of the warehouse only tables are read; every view is created again from sql/.
        affected = _affected(every, {*replaced, *emptied}, unchanged) | (every.keys() - stored)
        chosen = needed(every.values(), wanted, within=affected)
        tables = {**(amended or {}), **replaced}
        db.execute("begin")
        raw_names = (name for name in listed if name.startswith("raw."))
        for name in (*raw_names, *(name for name in every if name in chosen)):
            if name in tables:
                create_from(db, name, tables[name])
            elif name in emptied:
                rows = f"{CATALOG}.{name}" if name in stored else f"({every[name].query})"
                db.execute(f"create table {name} as from {rows} limit 0")
            elif name in affected:
                create_relation(db, every[name])
            else:
                db.execute(f"create view {name} as from {CATALOG}.{name}")
        db.execute("commit")
    return Warehouse(db)


def stored(path: Path) -> list[str]:
    """The relations that a warehouse stores as tables."""
    with attached(path) as db:
        listed = db.execute(LISTED, [CATALOG]).fetchall()
    return [name for name, kind in listed if kind == "BASE TABLE"]


def write_again(path: Path, recomputed: Warehouse) -> None:
    """Write the tables of a recomputed warehouse over those of this copy of its file.

    Queries that others write run in a process of their own, which opens a file.
    """
    changed = set(recomputed.column(COMPUTED)).intersection(stored(path))
    with duckdb.connect(str(path)) as db:
        # The author of the file may have put code into its views.
        lock_down(db)
        for name in sorted(changed):
            db.register("recomputed", recomputed.arrow(f"from {name}"))
            # Not created again: its comment says what it is for.
            db.execute(f"truncate {name}")
            db.execute(f"insert into {name} by name from recomputed")


def _affected(
    every: Mapping[str, Relation], changed: set[str], unchanged: Sequence[str]
) -> set[str]:
    """The relations that read one of these, directly or not; `every` is in order of reading."""
    affected = set(changed)
    for name, relation in every.items():
        reads = (*relation.reads, *RAW_REFERENCE.findall(relation.query))
        if name not in unchanged and not affected.isdisjoint(reads):
            affected.add(name)
    return affected
