"""A warehouse asked once more: what is made again, what is only looked at, and what stays shut."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from pipeline.errors import InputError, UsageError
from pipeline.profile import Profile
from pipeline.run import Pair, compare, made_relations
from pipeline.settings import SQL_DIR
from pipeline.warehouse import Warehouse, ask_again

PAIR = {
    "benchmark": ["quick_math"],
    "base": ["quick_math_birch-70b"],
    "candidate": ["quick_math_aster-8b"],
    "pair_no": [1],
    "is_named": [True],
    "margin": [0.02],
}
WANTED = ("main.comparison_tasks", "main.runs", "staging.rollout_keys")


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def asked(path: Path, *wanted: str) -> Warehouse:
    return ask_again(
        path,
        SQL_DIR,
        made_relations(Profile()),
        given={"staging.run_pairs": pa.table(PAIR)},
        emptied=["staging.attempts"],
        wanted=wanted,
    )


@pytest.fixture(scope="module")
def again(demo: Path) -> Iterator[Warehouse]:
    """The demo with one pair given, and with no attempts."""
    with asked(demo, *WANTED) as opened:
        yield opened


def kinds(opened: Warehouse) -> dict[str, str]:
    """What is there in memory: tables, and views with what they say."""
    query = """
        select schema_name || '.' || table_name, 'table'
        from duckdb_tables() where database_name = 'memory'
        union all
        select schema_name || '.' || view_name, sql
        from duckdb_views() where database_name = 'memory' and not internal
    """
    return dict(opened.execute(query).fetchall())


def test_what_is_affected_is_made_again(again: Warehouse) -> None:
    """What reads what is given, at any remove, is new; the rest are views on the warehouse."""
    found = kinds(again)
    assert {name for name, kind in found.items() if kind == "table"} == {
        "staging.run_pairs",
        "staging.attempts",
        "staging.task_sides",
        "staging.run_tasks",
        "main.task_outcomes",
        "main.comparison_tasks",
    }
    assert "FROM warehouse.main.runs" in found["main.runs"]
    # A view is our own SQL; what it reads is taken from the warehouse as it is.
    assert "FROM warehouse.staging.keys" in found["staging.keys"]


def test_what_is_not_wanted_is_not_made(again: Warehouse) -> None:
    """Neither relations that are affected nor others."""
    assert not {"main.comparisons", "main.ledger", "main.events"} & set(kinds(again))


def test_given_and_emptied(again: Warehouse) -> None:
    """The pair given stands for those of the analysis; of what is emptied the columns are left."""
    assert again.execute("select base, candidate from staging.run_pairs").fetchall() == [
        ("quick_math_birch-70b", "quick_math_aster-8b")
    ]
    assert again.execute("select count(*) from staging.attempts").fetchall() == [(0,)]
    assert again.execute("select count(*) from comparison_tasks").fetchall() == [(0,)]
    assert again.execute("select count(*) from runs").fetchall() == [(4,)]


def test_nothing_is_written(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is the same to the byte, nothing lies beside it, and it can be opened meanwhile."""
    monkeypatch.chdir(tmp_path)
    before, beside = sha(demo), sorted(demo.parent.iterdir())
    pair = Pair("quick_math", "quick_math_birch-70b", "quick_math_aster-8b", True, 0.02)
    with compare(demo, [pair]) as opened:
        found = opened.execute("select delta from comparisons where is_lead").fetchall()
        with duckdb.connect(str(demo), read_only=True) as other:
            stored = other.execute(
                "select delta from comparisons where is_lead and benchmark = 'quick_math'"
            ).fetchall()
    # Base and candidate have changed places.
    assert found[0][0] == pytest.approx(-stored[0][0])
    assert sha(demo) == before and sorted(demo.parent.iterdir()) == beside
    assert list(tmp_path.iterdir()) == []


def test_it_is_locked_down(again: Warehouse, demo: Path, tmp_path: Path) -> None:
    """Afterwards no file can be read or written, and no setting changed."""
    settings = again.execute(
        "select current_setting('enable_external_access'), current_setting('lock_configuration')"
    ).fetchall()
    assert settings == [(False, True)]
    for query in (
        f"from read_text('{demo.parent / 'manifest.json'}')",
        f"from '{demo.parent / 'metrics.json'}'",
        f"copy (select 1) to '{tmp_path / 'x.csv'}'",
        f"attach '{tmp_path / 'x.duckdb'}'",
        "set enable_external_access = true",
        "create table x (i int)",
        "delete from runs",
    ):
        with pytest.raises(UsageError):
            again.execute(query)
    assert list(tmp_path.iterdir()) == []


def test_a_warehouse_of_another_version(tmp_path: Path) -> None:
    """One that lacks what is asked for cannot be used; the way out is said."""
    path = tmp_path / "warehouse.duckdb"
    with duckdb.connect(str(path)) as db:
        db.execute("create schema raw; create table raw.events (i int)")
        db.execute("create table main.runs (run_id varchar, benchmark varchar)")
    with pytest.raises(InputError, match="this version of blade") as error:
        asked(path, *WANTED)
    assert error.value.hint == "Analyze the results again."


def test_tables_of_raw(demo: Path) -> None:
    """What reads those given is made again; not what reads those amended alone, or is kept."""
    with duckdb.connect(str(demo), read_only=True) as stored:
        files = stored.sql("from raw.files limit 1").to_arrow_table()
        labels = stored.sql("from raw.labels").to_arrow_table()
    opened = ask_again(
        demo,
        SQL_DIR,
        made_relations(Profile()),
        given={"raw.labels": labels},
        amended={"raw.files": files},
        kept=["main.rejects"],
        wanted=("main.root_causes", "main.rejects", "main.artifacts", "main.runs"),
    )
    with opened:
        found = kinds(opened)
        tables = {name for name, kind in found.items() if kind == "table"}
        assert {"raw.labels", "raw.files", "main.root_causes"} <= tables
        assert "warehouse" not in found["main.labels"]
        # By way of the labels, of which it counts the lines; and so by the files as amended.
        assert "main.artifacts" in tables
        assert opened.execute("select count(*) from artifacts").fetchall() == [(1,)]
        assert "FROM warehouse.main.rejects" in found["main.rejects"]
        assert "FROM warehouse.main.runs" in found["main.runs"]
