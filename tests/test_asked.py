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


def test_given_and_emptied(again: Warehouse) -> None:
    """The pair given stands for those of the analysis; of what is emptied the columns are left."""
    assert again.execute("select base, candidate from staging.run_pairs").fetchall() == [
        ("quick_math_birch-70b", "quick_math_aster-8b")
    ]
    assert again.execute("select count(*) from staging.attempts").fetchall() == [(0,)]
    assert again.execute("select count(*) from comparison_tasks").fetchall() == [(0,)]
    assert again.execute("select count(*) from runs").fetchall() == [(4,)]


@pytest.mark.slow
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
