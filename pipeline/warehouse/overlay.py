"""A warehouse asked once more: some relations given, those that read them made again in memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

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

LISTED = """
    select table_schema || '.' || table_name, table_type
    from information_schema.tables where table_catalog = ? order by all
"""


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
        listed = dict(db.execute(LISTED, [CATALOG]).fetchall())
        stored = {name for name, kind in listed.items() if kind == "BASE TABLE"}
        # Our own SQL over the tables of the warehouse alone: every view is made anew.
        affected = _affected(every, {*given, *emptied}, kept) | (every.keys() - stored)
        chosen = needed(every.values(), wanted, within=affected)
        tables = {**(amended or {}), **given}
        db.execute("begin")
        raw = (name for name in listed if name.startswith("raw."))
        for name in (*raw, *(name for name in every if name in chosen)):
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


def _affected(every: Mapping[str, Relation], changed: set[str], kept: Sequence[str]) -> set[str]:
    """What reads one of these, at any remove; relations come after those they read."""
    affected = set(changed)
    for name, relation in every.items():
        reads = (*relation.reads, *RAW_REFERENCE.findall(relation.query))
        if name not in kept and not affected.isdisjoint(reads):
            affected.add(name)
    return affected
