"""Create the relations of sql/: one select per file, in the order of what they read.

Assertions are relations too: rows that must not exist, and rows to warn about.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeAlias

import duckdb

from ..errors import BladeError, InputError
from ..relation import Computation, Compute, Relation
from ..settings import OUTPUT_VARIABLE, SQL_DIR
from .reader import Warehouse, set_output

if TYPE_CHECKING:
    import pyarrow as pa

Create: TypeAlias = "Callable[[Relation, duckdb.DuckDBPyConnection], None]"

# Folders of sql/ are subjects; only these two are schemas of their own as well.
OWN_SCHEMAS = ("report", "assertions")
HEADER = re.compile(r"-- (?:(grain|looks at|kind|needs|computed by|columns): )?(.*)")
# A query of several steps.
STEPS = re.compile(r"^with\b", re.MULTILINE)
# Long rows that are handed to Python at a time.
BATCH_ROWS = 2048
# Relations with a sorted table in staging and a public view that adds texts.
TWINS = ("rollouts", "tasks", "task_prompts")


def relations(sql_dir: Path, python: Iterable[Relation | Compute] = ()) -> list[Relation]:
    """All relations of the folder and those of Python, each after the ones it reads.

    Functions of Python are found by the names that headers have for them.
    """
    functions: dict[str, Compute] = {}
    by_name: dict[str, Relation] = {}
    for part in python:
        if isinstance(part, Relation):
            by_name[part.name] = part
        else:
            # In a wheel, `pipeline` is inside `blade`.
            module = part.__module__.removeprefix("blade.")
            functions[f"{module}.{part.__qualname__}"] = part
    for relation in _sql_files(sql_dir):
        resolved = [
            replace(each, compute=functions.get(each.function)) for each in relation.computations
        ]
        by_name[relation.name] = replace(relation, computations=tuple(resolved))
    graph = {relation.name: relation.reads for relation in by_name.values()}
    return [by_name[name] for name in TopologicalSorter(graph).static_order()]


def name_of(path: Path) -> str:
    """`staging.keys` of `intake/_keys.sql`: a leading underscore marks a private step."""
    if path.stem.startswith("_"):
        return f"staging.{path.stem[1:]}"
    return f"{path.parent.name if path.parent.name in OWN_SCHEMAS else 'main'}.{path.stem}"


def parse(name: str, text: str) -> Relation:
    """Line 1 is the purpose; `-- grain: ...`, `-- kind: table|step`, `-- needs: ...` may follow.

    `-- looks at: rollout|task|run|across` is what a row depends on; a relation that looks at a
    rollout may name small ones that are needed beside it (`rollout with staging.x, staging.y`).
    A need is a relation, or any of several with ` | ` between them; each line is needed.
    `-- computed by: function` names what Python does with the rows of the query, or with those of
    one CTE (`from cte`), all at once or `in batches`; the columns that come out follow it.
    """
    header: dict[str, str] = {}
    needs: list[tuple[str, ...]] = []
    computations: list[Computation] = []
    for line in text.splitlines():
        match = HEADER.fullmatch(line)
        if match is None:
            break
        if match[1] == "computed by":
            function, *words = match[2].split()
            rows = words[1] if words[:1] == ["from"] else ""
            computations.append(Computation(function, rows, words[-2:] == ["in", "batches"]))
        if match[1] == "needs":
            needs.append(tuple(match[2].split(" | ")))
        header.setdefault(match[1] or "purpose", match[2])
    looks_at, _, header["beside"] = header.get("looks at", "").partition(" with ")
    grain, beside = (
        tuple(part.strip() for part in header.get(key, "").split(",") if part)
        for key in ("grain", "beside")
    )
    kind = header.get("kind")
    return Relation(
        name,
        header.get("purpose", ""),
        grain,
        kind in ("table", "step"),
        text,
        needs=tuple(needs),
        is_step=kind == "step",
        computations=tuple(computations),
        looks_at=looks_at,
        beside=beside,
    )


def grains(sql_dir: Path = SQL_DIR) -> dict[str, tuple[str, ...]]:
    """The grain of each public relation: what it has one row per."""
    public = (each for each in _sql_files(sql_dir) if each.name.startswith("main."))
    return {relation.name.removeprefix("main."): relation.grain for relation in public}


def _sql_files(sql_dir: Path) -> Iterator[Relation]:
    for path in sorted(sql_dir.glob("*/*.sql")):
        yield parse(name_of(path), path.read_text(encoding="utf-8"))


def create_macros(db: duckdb.DuckDBPyConnection, sql_dir: Path) -> None:
    """Create the macros of sql/macros.sql."""
    db.execute(f"begin; {(sql_dir / 'macros.sql').read_text(encoding='utf-8')}; commit")


def create_relations(
    db: duckdb.DuckDBPyConnection,
    sql_dir: Path,
    python: Iterable[Relation | Compute] = (),
    *,
    wanted: Collection[str] = (),
    at_once: int = 1,
    begin: Callable[[int], None] = lambda _n: None,
    attempt: Callable[[Callable[[], None]], None] = lambda make: make(),
) -> None:
    """Create all relations, or only the wanted ones and those that they read.

    Public tables are sorted by their grain, so that a plain select always has the same order.
    Of those that do not read each other, up to `at_once` are created at the same time.
    `begin` is called with the number of relations, `attempt` with what makes one of them, which it
    may call again after an error.
    """
    every = relations(sql_dir, python)
    if wanted:
        chosen = needed(every, wanted)
        every = [relation for relation in every if relation.name in chosen]
    begin(len(every))
    db.execute("set preserve_insertion_order = true")
    known = known_columns(sql_dir, every)
    rows_of_needs: dict[str, bool] = {}

    def create(relation: Relation, db: duckdb.DuckDBPyConnection) -> None:
        def has_rows(need: str) -> bool:
            if need not in rows_of_needs:
                rows_of_needs[need] = bool(db.execute(f"select 1 from {need} limit 1").fetchall())
            return rows_of_needs[need]

        try:
            columns = known.get(relation.name)
            if columns is not None and not all(any(map(has_rows, need)) for need in relation.needs):
                rows_of_needs[relation.name] = False
                db.execute(f"create table {relation.name} ({columns})")
                _comment(db, relation, "table")
            else:
                create_relation(db, relation)
        except duckdb.Error as error:
            error.add_note(f"in {relation.name}")
            raise

    def make(relation: Relation, db: duckdb.DuckDBPyConnection) -> None:
        attempt(lambda: create(relation, db))

    with _at_once(db, every, make, at_once) if at_once > 1 else _in_order(db, every, make):
        if not known and not wanted:
            _remember_columns(db, sql_dir, every)
        for relation in every:
            if relation.is_step and not wanted:
                db.execute(f"drop table {relation.name}")


@contextmanager
def _in_order(
    db: duckdb.DuckDBPyConnection, every: Iterable[Relation], create: Create
) -> Iterator[None]:
    """One relation after the other, so that one can be made again."""
    for relation in every:
        create(relation, db)
    yield


@contextmanager
def _at_once(
    db: duckdb.DuckDBPyConnection, every: Iterable[Relation], create: Create, n_threads: int
) -> Iterator[None]:
    """Each relation as soon as all that it reads exist; after an error there is none of them."""
    place = {relation.name: number for number, relation in enumerate(every)}
    sorter = TopologicalSorter({relation.name: _comes_after(relation, place) for relation in every})
    sorter.prepare()
    by_name = {relation.name: relation for relation in every}
    cursors: SimpleQueue[duckdb.DuckDBPyConnection] = SimpleQueue()
    for _ in range(n_threads):
        cursors.put(_cursor(db))

    def make(relation: Relation) -> None:
        cursor = cursors.get()
        try:
            create(relation, cursor)
        finally:
            cursors.put(cursor)

    begun: dict[Future[None], str] = {}
    pool = ThreadPoolExecutor(n_threads)
    try:
        while sorter.is_active():
            for name in sorted(sorter.get_ready(), key=place.__getitem__):
                begun[pool.submit(make, by_name[name])] = name
            done, _ = wait(begun, return_when=FIRST_COMPLETED)
            # Of several errors the same one is raised each time.
            for future in sorted(done, key=lambda each: place[begun[each]]):
                future.result()
                sorter.done(begun.pop(future))
    except BaseException:
        pool.shutdown(cancel_futures=True)
        for relation in every:
            kind = "table" if relation.is_table else "view"
            with suppress(duckdb.Error):
                db.execute(f"drop {kind} if exists {relation.name}")
        raise
    pool.shutdown()
    while not cursors.empty():
        cursors.get().close()
    yield


def _comes_after(relation: Relation, names: Collection[str]) -> set[str]:
    """What a relation reads, and what its needs ask."""
    needs = {need.split()[0] for line in relation.needs for need in line}
    return (needs & set(names)).union(relation.reads)


def _cursor(db: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Another connection to the same database, with the settings of this one."""
    cursor = db.cursor()
    query = f"select current_database(), getvariable('{OUTPUT_VARIABLE}')"
    ((name, output),) = db.execute(query).fetchall()
    cursor.execute(f"use {name}; set enable_progress_bar = false")
    if output is not None:
        set_output(cursor, Path(output))
    return cursor


def known_columns(sql_dir: Path, every: Iterable[Relation]) -> dict[str, str]:
    """Columns of relations, as remembered by an earlier analysis with the same SQL and DuckDB.

    A relation is empty if one of its `needs` is empty. If its columns are known, it is created
    without planning its query, which would take longer than the rest of a small analysis.
    """
    try:
        columns: dict[str, str] = json.loads(
            _columns_file(sql_dir, every).read_text(encoding="utf-8")
        )
    except (OSError, ValueError):
        return {}
    return columns


def _remember_columns(db: duckdb.DuckDBPyConnection, sql_dir: Path, every: list[Relation]) -> None:
    """Store the columns of relations that may be empty; ignore errors."""
    rows = db.execute("""
        select
            schema_name || '.' || table_name as relation,
            string_agg(format('"{}" {}', column_name, data_type), ', ' order by column_index)
        from duckdb_columns()
        where database_name = current_database()
        group by all
    """).fetchall()
    columns = dict(rows)
    remembered = {relation.name: columns[relation.name] for relation in every if relation.needs}
    path = _columns_file(sql_dir, every)
    try:
        path.parent.mkdir(exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            json.dump(remembered, file)
        Path(file.name).replace(path)
    except OSError:
        return


def _columns_file(sql_dir: Path, every: Iterable[Relation]) -> Path:
    """A file in sql/__pycache__, like compiled modules."""
    digest = hashlib.sha256(duckdb.__version__.encode())
    digest.update((sql_dir / "macros.sql").read_bytes())
    for relation in every:
        digest.update(f"{relation.name}\0{relation.query}\0".encode())
    return sql_dir / "__pycache__" / f"columns-{digest.hexdigest()[:16]}.json"


def needed(
    every: Iterable[Relation], wanted: Iterable[str], *, within: Collection[str] | None = None
) -> set[str]:
    """The wanted relations and all that they read, directly or not.

    If `within` is given, what other relations read is left out.
    """
    reads = {relation.name: relation.reads for relation in every}
    reached: set[str] = set()
    waiting = list(wanted)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += reads[name] if within is None or name in within else []
    return reached


def create_relation(db: duckdb.DuckDBPyConnection, relation: Relation) -> None:
    """Create one relation; the comment of a public one is its purpose."""
    kind = "table" if relation.is_table else "view"
    with computed(db, relation) as query:
        db.execute(f"create {kind} {relation.name} as {query}")
    _comment(db, relation, kind)


@contextmanager
def computed(db: duckdb.DuckDBPyConnection, relation: Relation) -> Iterator[str]:
    """The query of a relation; what Python computes for it can be read while the context lasts."""
    query = _sorted(relation)
    names = []
    for each in relation.computations:
        if each.compute is None:
            raise LookupError(
                f"{relation.name}: {each.function} is not listed in analysis.FUNCTIONS"
            )
        rows = query_of(relation.query, each.rows)
        results = _of_batches if each.is_in_batches else _of_all_rows
        db.register(each.name, results(db, rows, each.compute))
        names.append(each.name)
        if not each.rows:
            query = f"from temp.{each.name}"
    yield query
    for name in names:
        db.unregister(name)


def _of_all_rows(db: duckdb.DuckDBPyConnection, query: str, compute: Compute) -> pa.Table:
    """What a function computes of all rows at once."""
    if not STEPS.search(query):
        return compute(db.sql(query).to_arrow_table())
    # Arrow comes from a relation, which would plan its query twice: that takes longer than a table
    # unless the query is short, and those read most rows.
    db.execute(f"create or replace temp table rows_to_compute as {query}")
    rows = db.sql("from temp.rows_to_compute").to_arrow_table()
    db.execute("drop table temp.rows_to_compute")
    return compute(rows)


def _of_batches(db: duckdb.DuckDBPyConnection, query: str, compute: Compute) -> pa.Table:
    """What a function computes of each batch of rows."""
    import pyarrow as pa

    batches = db.sql(query).to_arrow_reader(BATCH_ROWS)
    empty = compute(batches.schema.empty_table())
    parts = (compute(pa.Table.from_batches([batch])) for batch in batches)
    return pa.concat_tables([empty, *parts])


def query_of(query: str, cte: str) -> str:
    """The select of a CTE, which closes at the beginning of a line, after the CTEs before it."""
    if not cte:
        return query
    match = re.search(rf"^(?:with )?{cte} as \(\n(.*?)\n\)", query, re.MULTILINE | re.DOTALL)
    if match is None:
        raise LookupError(f"no CTE {cte}")
    before = re.sub(r"(,|\bwith)\n(-- .*\n)*$", "", query[: match.start()])
    return f"{before}\n{match[1]}"


def create_from(db: duckdb.DuckDBPyConnection, name: str, rows: pa.Table) -> None:
    """Create a table from Arrow rows."""
    db.register("new_rows", rows)
    db.execute(f"create table {name} as from new_rows")
    db.unregister("new_rows")


def order_views(db: duckdb.DuckDBPyConnection, sql_dir: Path) -> None:
    """Sort views of texts at the end: before, each join with them would sort every text."""
    views = db.execute("select view_name from duckdb_views() where schema_name = 'main'").fetchall()
    for name in TWINS:
        if (name,) in views:
            relation = parse(f"main.{name}", (sql_dir / f"intake/{name}.sql").read_text("utf-8"))
            db.execute(f"create or replace view {relation.name} as {_by_grain(relation)}")
            _comment(db, relation, "view")


def _comment(db: duckdb.DuckDBPyConnection, relation: Relation, kind: str) -> None:
    """Describe a public relation, for `blade sql --schema`."""
    if not relation.name.startswith("main."):
        return
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
    """A warning: what, in which run or file, and what to run next."""

    check: str
    subject: str
    message: str
    hint: str


def run_checks(db: duckdb.DuckDBPyConnection | Warehouse) -> list[Notice]:
    """Raise if `assertions.fail` has rows; return those of `warn` in order."""
    query = "select check_name, subject, message, hint from assertions.{} order by all"
    broken = db.execute(query.format("fail")).fetchall()
    for check, subject, message, hint in broken:
        if check.startswith("refused_"):
            raise InputError(f"{subject}: {message}.", hint=hint)
    if broken:
        check, subject, message, _ = broken[0]
        raise BladeError(
            f"{subject}: {message} ({check}, {len(broken)} rows). This is a bug in blade.",
            hint="Please report it with the file; the previous output is untouched.",
        )
    return [Notice(*row) for row in db.execute(query.format("warn")).fetchall()]
