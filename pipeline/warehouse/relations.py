"""One select per file, the file's name the relation's: created in the order of what they read.

Assertions are relations too: what must not happen, and what a reader should know.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from pipeline.errors import BladeError
from pipeline.relation import Computed, Relation
from pipeline.settings import SQL_DIR
from pipeline.warehouse.reader import Warehouse

if TYPE_CHECKING:
    import pyarrow as pa

# Folders of sql/ are subjects; only these two are schemas of their own as well.
OWN_SCHEMAS = ("report", "assertions")
HEADER = re.compile(r"-- (?:(grain|kind|needs): )?(.*)")
# A stored table of staging that lies sorted, and the public view that joins its texts.
TWINS = ("rollouts", "tasks", "task_prompts")


def relations(sql_dir: Path, made: Iterable[Relation] = ()) -> list[Relation]:
    """Every relation below the folder, and those made elsewhere, each after the ones it reads."""
    found = {relation.name: relation for relation in made}
    for relation in _written(sql_dir):
        made_of_it = found.get(relation.name)
        if isinstance(made_of_it, Computed):
            relation = Computed(**vars(relation), compute=made_of_it.compute)
        found[relation.name] = relation
    graph = {relation.name: relation.reads for relation in found.values()}
    return [found[name] for name in TopologicalSorter(graph).static_order()]


def name_of(path: Path) -> str:
    """`staging.keys` of `intake/_keys.sql`: a leading underscore marks a private step."""
    if path.stem.startswith("_"):
        return f"staging.{path.stem[1:]}"
    return f"{path.parent.name if path.parent.name in OWN_SCHEMAS else 'main'}.{path.stem}"


def parse(name: str, text: str) -> Relation:
    """Line 1 is the purpose; `-- grain: ...`, `-- kind: table|step`, `-- needs: ...` may follow."""
    header: dict[str, str] = {}
    for line in text.splitlines():
        match = HEADER.fullmatch(line)
        if match is None:
            break
        header.setdefault(match[1] or "purpose", match[2])
    grain, needs = (
        tuple(part.strip() for part in header[key].split(",")) if key in header else ()
        for key in ("grain", "needs")
    )
    kind = header.get("kind")
    return Relation(
        name,
        header.get("purpose", ""),
        grain,
        kind in ("table", "step"),
        text,
        needs=needs,
        is_step=kind == "step",
    )


def grains(sql_dir: Path = SQL_DIR) -> dict[str, tuple[str, ...]]:
    """What each public relation has one row per."""
    public = (each for each in _written(sql_dir) if each.name.startswith("main."))
    return {relation.name.removeprefix("main."): relation.grain for relation in public}


def _written(sql_dir: Path) -> Iterator[Relation]:
    for path in sorted(sql_dir.glob("*/*.sql")):
        yield parse(name_of(path), path.read_text(encoding="utf-8"))


def create_macros(db: duckdb.DuckDBPyConnection, sql_dir: Path) -> None:
    """The functions that only this engine has, from their one file."""
    db.execute(f"begin; {(sql_dir / 'macros.sql').read_text(encoding='utf-8')}; commit")


def create_relations(
    db: duckdb.DuckDBPyConnection,
    sql_dir: Path,
    made: Iterable[Relation] = (),
    *,
    wanted: Collection[str] = (),
    begin: Callable[[int], None] = lambda _n: None,
) -> None:
    """All relations. Public tables lie sorted by their grain: a plain select repeats itself.

    Where some are `wanted`, they and what they read are all; `begin` is told how many.
    """
    every = relations(sql_dir, made)
    if wanted:
        chosen = needed(every, wanted)
        every = [relation for relation in every if relation.name in chosen]
    begin(len(every))
    db.execute("set preserve_insertion_order = true")
    known = known_columns(sql_dir, every)

    @cache
    def has_rows(need: str) -> bool:
        return bool(db.execute(f"from {need} limit 1").fetchall())

    # One transaction: each of its own would wait for the disk.
    db.execute("begin")
    for relation in every:
        try:
            columns = known.get(relation.name)
            if columns is not None and not all(map(has_rows, relation.needs)):
                db.execute(f"create table {relation.name} ({columns})")
                _comment(db, relation, "table")
            else:
                create_relation(db, relation)
        except duckdb.Error as error:
            error.add_note(f"in {relation.name}")
            raise
    if not known and not wanted:
        _keep_columns(db, sql_dir, every)
    for relation in every:
        if relation.is_step and not wanted:
            db.execute(f"drop table {relation.name}")
    db.execute("commit")


def known_columns(sql_dir: Path, every: Iterable[Relation]) -> dict[str, str]:
    """What an earlier analysis with the same SQL and engine kept; nothing where there was none.

    A relation that says what it needs has no row where that has none. With its columns known it is
    made empty without planning its query, which takes longer than the whole of a small run.
    """
    try:
        kept: dict[str, str] = json.loads(_kept_file(sql_dir, every).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return kept


def _keep_columns(db: duckdb.DuckDBPyConnection, sql_dir: Path, every: list[Relation]) -> None:
    """Write down the columns of relations that may be empty; where that fails, do without."""
    rows = db.execute("""
        select
            schema_name || '.' || table_name as relation,
            string_agg(format('"{}" {}', column_name, data_type), ', ' order by column_index)
        from duckdb_columns()
        where database_name = current_database()
        group by all
    """).fetchall()
    columns = dict(rows)
    kept = {relation.name: columns[relation.name] for relation in every if relation.needs}
    path = _kept_file(sql_dir, every)
    try:
        path.parent.mkdir(exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            json.dump(kept, file)
        Path(file.name).replace(path)
    except OSError:
        return


def _kept_file(sql_dir: Path, every: Iterable[Relation]) -> Path:
    """Beside sql/, as Python keeps compiled modules."""
    digest = hashlib.sha256(duckdb.__version__.encode())
    digest.update((sql_dir / "macros.sql").read_bytes())
    for relation in every:
        digest.update(f"{relation.name}\0{relation.query}\0".encode())
    return sql_dir / "__pycache__" / f"columns-{digest.hexdigest()[:16]}.json"


def needed(
    every: Iterable[Relation], wanted: Iterable[str], *, within: Collection[str] | None = None
) -> set[str]:
    """The relations wanted and all that they read, at any remove; of those `within` at most."""
    reads = {relation.name: relation.reads for relation in every}
    found: set[str] = set()
    waiting = list(wanted)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += reads[name] if within is None or name in within else []
    return found


def create_relation(db: duckdb.DuckDBPyConnection, relation: Relation) -> None:
    """One relation, with its purpose as the comment that a schema shows."""
    kind = "table" if relation.is_table else "view"
    if isinstance(relation, Computed):
        rows = db.sql(relation.query).to_arrow_table()
        create_from(db, relation.name, relation.compute(rows))
    else:
        db.execute(f"create {kind} {relation.name} as {_sorted(relation)}")
    _comment(db, relation, kind)


def create_from(db: duckdb.DuckDBPyConnection, name: str, rows: pa.Table) -> None:
    """A table of rows as Arrow has them."""
    db.register("given", rows)
    db.execute(f"create table {name} as from given")
    db.unregister("given")


def order_views(db: duckdb.DuckDBPyConnection, sql_dir: Path) -> None:
    """Views of texts get their order last: a query that joins them would sort every text."""
    made = db.execute("select view_name from duckdb_views() where schema_name = 'main'").fetchall()
    for name in TWINS:
        if (name,) in made:
            relation = parse(f"main.{name}", (sql_dir / f"intake/{name}.sql").read_text("utf-8"))
            db.execute(f"create or replace view {relation.name} as {_by_grain(relation)}")
            _comment(db, relation, "view")


def _comment(db: duckdb.DuckDBPyConnection, relation: Relation, kind: str) -> None:
    purpose = relation.purpose.replace("'", "''")
    db.execute(f"comment on {kind} {relation.name} is '{purpose}'")


def _sorted(relation: Relation) -> str:
    schema, _, name = relation.name.partition(".")
    is_sorted = relation.is_table and (schema == "main" or name in TWINS)
    return _by_grain(relation) if is_sorted else relation.query


def _by_grain(relation: Relation) -> str:
    return f"select * from (\n{relation.query}\n) order by {', '.join(relation.grain)}"


@dataclass(frozen=True)
class Notice:
    """Something to know of these results: what, in which run or file, and what to run next."""

    check: str
    subject: str
    message: str
    hint: str


def run_checks(db: duckdb.DuckDBPyConnection | Warehouse) -> list[Notice]:
    """Raise where `assertions.fail` has rows; return the rows of `assertions.warn` in order."""
    query = "select check_name, subject, message, hint from assertions.{} order by all"
    broken = db.execute(query.format("fail")).fetchall()
    if broken:
        check, subject, message, _ = broken[0]
        raise BladeError(
            f"{subject}: {message} ({check}, {len(broken)} rows). This is a bug in blade.",
            hint="Please report it with the file; the previous output is untouched.",
        )
    return [Notice(*row) for row in db.execute(query.format("warn")).fetchall()]
