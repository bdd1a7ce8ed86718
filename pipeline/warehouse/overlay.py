"""A warehouse asked once more: some relations given, those that read them made again in memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from pipeline.relation import Relation
from pipeline.warehouse.build import SCHEMAS
from pipeline.warehouse.reader import CATALOG, Warehouse, attached, lock_down, of_this_version
from pipeline.warehouse.relations import (
    create_from,
    create_macros,
    create_relation,
    needed,
    relations,
)

if TYPE_CHECKING:
    import pyarrow as pa

RAW_REFERENCE = re.compile(r"\b(?:from|join)\s+(raw\.\w+)")


def ask_again(
    path: Path,
    sql_dir: Path,
    made: Iterable[Relation],
    *,
    given: Mapping[str, pa.Table],
    amended: Mapping[str, pa.Table] | None = None,
    emptied: Sequence[str] = (),
    kept: Sequence[str] = (),
    wanted: Sequence[str],
) -> Warehouse:
    """The relations wanted, as if those given had stood in the warehouse; nothing is written.

    Tables of `raw` may be given too. Those amended are read by what is made again, and are no
    reason to make anything again. Those emptied hold nothing that is wanted here, and would take
    long to make again; those kept would come out as they are.
    """
    every = {relation.name: relation for relation in relations(sql_dir, made)}
    db = attached(path)
    # Before anything of the file is asked: whoever made it may have made its views too.
    lock_down(db)
    with of_this_version(path):
        for schema in SCHEMAS:
            db.execute(f"create schema {schema}")
        create_macros(db, sql_dir)
        _create_raw_tables(db, {**given, **(amended or {})})
        affected = _affected(every, {*given, *emptied}, kept)
        _create(db, every, affected, given=given, emptied=emptied, wanted=wanted)
    return Warehouse(db)


def _create(
    db: duckdb.DuckDBPyConnection,
    every: Mapping[str, Relation],
    affected: Set[str],
    *,
    given: Mapping[str, pa.Table],
    emptied: Sequence[str],
    wanted: Sequence[str],
) -> None:
    """What is affected anew, and every view: our own SQL over the tables of the warehouse alone."""
    stored = {
        f"{schema}.{name}"
        for schema, name in db.execute(
            "select schema_name, table_name from duckdb_tables() where database_name = ?", [CATALOG]
        ).fetchall()
    }
    made = affected | (every.keys() - stored)
    chosen = needed(every.values(), wanted, within=made)
    db.execute("begin")
    for name, relation in every.items():
        if name not in chosen:
            continue
        if name in given:
            create_from(db, name, given[name])
        elif name in emptied:
            rows = f"{CATALOG}.{name}" if name in stored else f"({relation.query})"
            db.execute(f"create table {name} as from {rows} limit 0")
        elif name in made:
            create_relation(db, relation)
        else:
            db.execute(f"create view {name} as from {CATALOG}.{name}")
    db.execute("commit")


def _affected(every: Mapping[str, Relation], changed: set[str], kept: Sequence[str]) -> set[str]:
    """What reads one of these, at any remove; relations come after those they read."""
    affected = set(changed)
    for name, relation in every.items():
        reads = (*relation.reads, *RAW_REFERENCE.findall(relation.query))
        if name not in kept and not affected.isdisjoint(reads):
            affected.add(name)
    return affected


def _create_raw_tables(db: duckdb.DuckDBPyConnection, given: Mapping[str, pa.Table]) -> None:
    """Those given as tables, the others as views on the warehouse."""
    query = """
        select table_name from information_schema.tables
        where table_catalog = ? and table_schema = 'raw'
    """
    for (name,) in db.execute(query, [CATALOG]).fetchall():
        table = f"raw.{name}"
        if table in given:
            create_from(db, table, given[table])
        else:
            db.execute(f"create view {table} as from {CATALOG}.{table}")
