"""Relations that do not read each other are created at the same time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from pipeline.warehouse.relations import create_relations

# Each reads the one before; `other` reads none of them.
QUERIES = {
    "first": "select 1 as n",
    "second": "select n + 1 as n from main.first",
    "third": "select cast(n as varchar) || {end} as words from main.second",
    "other": "select 5 as n",
}


def folder(tmp_path: Path, end: str) -> Path:
    """A folder of relations; the last of the chain is a table, so that an error shows at once."""
    (tmp_path / "macros.sql").write_text("", encoding="utf-8")
    (tmp_path / "numbers").mkdir()
    for name, query in QUERIES.items():
        kind = "-- grain: words\n-- kind: table\n" if name == "third" else ""
        path = tmp_path / "numbers" / f"{name}.sql"
        path.write_text(f"-- A number.\n{kind}{query.replace('{end}', end)}\n", encoding="utf-8")
    return tmp_path


def test_each_after_what_it_reads(tmp_path: Path) -> None:
    """However many are made at once, a relation finds all that it reads."""
    with duckdb.connect() as db:
        create_relations(db, folder(tmp_path, "'!'"), at_once=3)
        assert db.execute("from third").fetchall() == [("2!",)]
        assert db.execute("from other").fetchall() == [(5,)]


def test_after_an_error_there_is_none(tmp_path: Path) -> None:
    """An error is raised with the relation's name, and what was made before is dropped."""
    with duckdb.connect() as db:
        with pytest.raises(duckdb.ConversionException) as raised:
            create_relations(db, folder(tmp_path, "cast('x' as integer)"), at_once=3)
        assert raised.value.__notes__ == ["in main.third"]
        assert not db.execute("from duckdb_views() where not internal").fetchall()
        assert not db.execute("from duckdb_tables()").fetchall()


@pytest.mark.parametrize("at_once", [1, 3])
def test_one_alone_is_made_again(tmp_path: Path, at_once: int) -> None:
    """After an error what was made before stays."""
    n_made: Counter[str] = Counter()

    def attempt(make: Callable[[], None]) -> None:
        try:
            make()
        except duckdb.ConversionException as error:
            n_made.update(error.__notes__)
            db.execute("create or replace macro last() as '!'")
            make()
        n_made["all"] += 1

    with duckdb.connect() as db:
        db.execute("create macro last() as cast('x' as integer)::varchar")
        create_relations(db, folder(tmp_path, "last()"), at_once=at_once, attempt=attempt)
        assert db.execute("from third").fetchall() == [("2!",)]
    assert n_made == {"in main.third": 1, "all": len(QUERIES)}
