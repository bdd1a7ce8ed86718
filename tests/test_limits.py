"""What a query or an option may ask for: limits that end in a message, never in a traceback."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from tests.results import analyzed, call, rollout

ENDLESS = "select count(*) from range(100000000000) as a, range(10000) as b"
LARGE = "select list(a order by random()) from range(100000000) as numbers(a)"


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of one benchmark."""
    rows = [rollout(task, 0, reward=float(task % 2)) for task in range(8)]
    files = {"x_a_rollouts.jsonl": rows, "x_b_rollouts.jsonl": rows}
    return analyzed(tmp_path_factory.mktemp("limits"), files).path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([ENDLESS, "--timeout", "0.5"], ["longer than 0.5 s", "--timeout"]),
        ([LARGE, "--memory-limit", "200MB"], ["more memory", "--memory-limit"]),
        (["select 1; select 2"], ["2 queries at once", "one at a time"]),
    ],
)
def test_a_query_that_asks_too_much(warehouse: Path, arguments: list[str], said: list[str]) -> None:
    """Exit code 2, with what was too much and what to change."""
    ended = call("sql", *arguments, "--warehouse", warehouse)
    assert ended.code == 2 and ended.stdout == ""
    assert all(part in ended.stderr for part in said)


def test_names_that_are_there_twice(warehouse: Path) -> None:
    """Every column is kept, under a name of its own."""
    query = "select 1 as a, 2 as a, 3 as a_2, 4 as b"
    told = call("sql", query, "--format", "json", "--warehouse", warehouse).stdout
    assert json.loads(told) == [{"a": 1, "a_3": 2, "a_2": 3, "b": 4}]


def test_times_with_a_zone(warehouse: Path) -> None:
    """As the engine writes them; they need no library."""
    query = "select '2026-01-02 03:04:05+00'::timestamptz as t, [now()] as list, 1 as n"
    (row,) = json.loads(call("sql", query, "--format", "json", "--warehouse", warehouse).stdout)
    assert row["t"].startswith("2026-01-0") and row["n"] == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["analyze", ".", "--threads", "1000000"],
        ["analyze", ".", "--pass-threshold", "nan"],
        ["health", "--min-clean-rate", "nan"],
        ["sql", "from runs", "--timeout", "nan"],
        ["sql", "from runs", "--timeout", "0"],
        ["compare", "a", "b", "--margin", "inf"],
    ],
)
def test_numbers_that_are_none(arguments: list[str]) -> None:
    """A usage error."""
    assert call(*arguments).code == 2


def test_views_of_a_crafted_warehouse_read_nothing(warehouse: Path, tmp_path: Path) -> None:
    """A file someone else made: its views are not run, and nothing outside could be read."""
    secret = tmp_path / "secret.csv"
    secret.write_text("word\nhidden\n")
    crafted = tmp_path / "crafted.duckdb"
    crafted.write_bytes(warehouse.read_bytes())
    with duckdb.connect(str(crafted)) as db:
        views = db.execute("""
            select schema_name, view_name from duckdb_views()
            where schema_name in ('main', 'staging') and not internal
        """).fetchall()
        described = {
            view: [row[0] for row in db.execute(f"describe {'.'.join(view)}").fetchall()]
            for view in views
        }
        for (schema, name), columns in described.items():
            chosen = ", ".join(
                f"(select word from read_csv('{secret}')) as \"{c}\"" for c in columns
            )
            db.execute(f"create or replace view {schema}.{name} as select {chosen}")
    assert views
    ended = call("compare", "x_a", "x_b", "--warehouse", crafted)
    assert "hidden" not in ended.stdout + ended.stderr
    assert ended.code == 0 and "pass@1" in ended.stdout
    asked = call("sql", "from tasks", "--warehouse", crafted)
    assert asked.code == 2 and "hidden" not in asked.stdout + asked.stderr
