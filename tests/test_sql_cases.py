"""Relations on rows worked out by hand: a case is a file of rows given and rows expected."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipeline.profile import Profile
from pipeline.run import made_relations
from pipeline.settings import SQL_DIR
from pipeline.warehouse import create_macros
from pipeline.warehouse.relations import relations
from tests.conftest import DEMO
from tests.test_sql import with_steps

CASES = sorted((Path(__file__).parent / "cases").glob("*/*.json"))
RELATIONS = {relation.name: relation for relation in relations(SQL_DIR, made_relations(Profile()))}
QUERIES = {name: relation.query for name, relation in RELATIONS.items()}
# Views of `report` are asked for their columns only where a case stands on them.
PAGES = sorted(
    {
        name
        for path in CASES
        for name in RELATIONS[path.parent.name].reads
        if name.startswith("report.")
    }
)


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with every relation's columns and no row, types as the product has them."""
    demo = with_steps(DEMO, tmp_path_factory.mktemp("steps") / "out")
    with duckdb.connect() as db:
        db.execute(f"attach '{demo}' as demo (read_only)")
        db.execute("use demo")
        tables = db.execute("""
            select table_schema || '.' || table_name from information_schema.tables
            where table_catalog = 'demo' and table_schema in ('raw', 'staging', 'main')
        """).fetchall()
        db.execute("use memory")
        create_macros(db, SQL_DIR)
        db.execute("create schema raw; create schema staging; create schema report")
        db.execute("use demo")
        for table in [*(table for (table,) in tables), *PAGES]:
            db.execute(f"create table memory.{table} as from demo.{table} limit 0")
        db.execute("use memory; detach demo")
        yield db


@pytest.fixture
def empty(columns: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """The same for one case, whose rows are taken back."""
    columns.execute("begin")
    yield columns
    columns.execute("rollback")


def insert(db: duckdb.DuckDBPyConnection, table: str, rows: list[dict[str, Any]]) -> None:
    """Rows by name; what a row does not name is null, and an object is its JSON."""
    for row in rows:
        values = [json.dumps(v) if isinstance(v, dict) else v for v in row.values()]
        marks = ", ".join("?" for _ in values)
        db.execute(f"insert into {table} ({', '.join(row)}) values ({marks})", values)


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_case(path: Path, empty: duckdb.DuckDBPyConnection) -> None:
    """The relation makes the expected rows of the given ones, column by column as named."""
    case = json.loads(path.read_text(encoding="utf-8"))
    for table, rows in case["given"].items():
        insert(empty, table, rows)
    names = list(case["expected"][0]) if case["expected"] else ["*"]
    query = f"select {', '.join(names)} from ({QUERIES[path.parent.name]})"
    found = [dict(zip(names, row, strict=True)) for row in empty.execute(query).fetchall()]
    key = lambda row: json.dumps(row, sort_keys=True, default=str)  # noqa: E731 - a local order
    assert sorted(found, key=key) == sorted(case["expected"], key=key), case["about"]
