"""What a query or an option may ask for: limits that end in a message, never in a traceback."""

from __future__ import annotations

import errno
import json
import subprocess
from pathlib import Path
from unittest import mock

import duckdb
import pytest

from pipeline import resources, warehouse
from pipeline.errors import InputError
from pipeline.settings import Settings
from tests.case_files import cases
from tests.results import BLADE, call, rollout, write

PAIR = ("quick_math_aster-8b", "quick_math_birch-70b")


def test_two_queries_at_once(demo: Path) -> None:
    """Exit code 2, with what to change."""
    ended = call("sql", "select 1; select 2", "--warehouse", demo)
    assert ended.code == 2 and ended.stdout == ""
    assert "2 queries at once" in ended.stderr and "one at a time" in ended.stderr


@pytest.mark.parametrize("arguments", cases("limits", "numbers_that_are_none"))
def test_numbers_that_are_none(arguments: list[str]) -> None:
    """A usage error."""
    assert call(*arguments).code == 2


@pytest.mark.slow
def test_views_of_a_crafted_warehouse_read_nothing(demo: Path, tmp_path: Path) -> None:
    """A file someone else made: its views are not run, and nothing outside could be read."""
    secret = tmp_path / "secret.csv"
    secret.write_text("word\nhidden\n")
    crafted = tmp_path / "crafted.duckdb"
    crafted.write_bytes(demo.read_bytes())
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
    ended = call("compare", *PAIR, "--warehouse", crafted)
    assert "hidden" not in ended.stdout + ended.stderr
    assert ended.code == 0 and "pass@1" in ended.stdout
    outcome = call("sql", "from tasks", "--warehouse", crafted)
    assert outcome.code == 2 and "hidden" not in outcome.stdout + outcome.stderr


def _shell(redirected: str, *arguments: str | Path) -> tuple[int, str]:
    """The exit code and the words on stderr of a command whose streams a shell redirects."""
    line = ["bash", "-c", f'"$0" "$@" {redirected}; exit ${{PIPESTATUS[0]}}', BLADE, *arguments]
    ended = subprocess.run(line, capture_output=True, text=True, timeout=60)
    return ended.returncode, ended.stderr


@pytest.mark.parametrize(
    ("redirected", "code", "expected"),
    [
        ("> /dev/full", 3, "blade: stdout: No space left on device."),
        (">&-", 3, "blade: stdout is closed: nothing can be printed."),
        pytest.param("| true", 141, "", marks=pytest.mark.slow),
        pytest.param("> /dev/null 2>&-", 0, "", marks=pytest.mark.slow),
    ],
)
def test_streams_that_take_no_words(demo: Path, redirected: str, code: int, expected: str) -> None:
    """A message where there is someone to tell, and never the code of a check that failed."""
    # More than a pipe holds.
    query = "select range(200000) as numbers"
    reported = _shell(redirected, "sql", query, "--format", "json", "--warehouse", demo)
    assert reported[0] == code and reported[1].partition("\n")[0] == expected


@pytest.mark.slow
def test_a_gate_that_nobody_can_read_has_not_failed(demo: Path, tmp_path: Path) -> None:
    """1 says FAIL, and nothing else does."""
    policy = tmp_path / "policy.toml"
    policy.write_text('[[metric]]\nmetric = "pass_at_1"\n')
    gate = ["compare", *PAIR, "--policy", policy, "--warehouse", demo]
    assert _shell("> /dev/full", *gate)[0] == 3
    with mock.patch("pipeline.answers.comparisons.compared", side_effect=KeyboardInterrupt):
        assert call(*gate).code == 130
    bug = "import sys, pipeline.cli as c; c._run = lambda: 1 / 0; c.main()"
    ended = subprocess.run([BLADE.with_name("python"), "-c", bug], capture_output=True, text=True)
    assert ended.returncode == 3 and "ZeroDivisionError" in ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("full", ["texts", "warehouse"])
def test_a_full_disk(tmp_path: Path, full: str) -> None:
    """Exit code 3, where it is full and what to do; earlier output is as it was."""
    results = write(tmp_path / "results", {"a_rollouts.jsonl": [rollout(0, 0)]})
    out = write(tmp_path / "out", {"report.md": "earlier"})
    name, error = {
        "texts": ("pipeline.outputs.Path.write_bytes", OSError(errno.ENOSPC, "No space")),
        "warehouse": ("pipeline.run.load.artifacts", duckdb.IOException("IO Error: No space")),
    }[full]
    with mock.patch(name, side_effect=error):
        ended = call("analyze", results, "--out", out)
    assert ended.code == 3 and f"blade: {out}/.blade/new" in ended.stderr
    assert "No space" in ended.stderr and "Free disk space" in ended.stderr
    assert [path.name for path in out.iterdir()] == ["report.md"]
    assert (out / "report.md").read_text() == "earlier"


def test_names_that_are_there_twice(demo: Path) -> None:
    """Every column is kept, under a name of its own."""
    query = "select 1 as a, 2 as a, 3 as a_2, 4 as b"
    output = call("sql", query, "--format", "json", "--warehouse", demo).stdout
    assert json.loads(output) == [{"a": 1, "a_3": 2, "a_2": 3, "b": 4}]


def test_times_with_a_zone(demo: Path) -> None:
    """As the engine writes them; they need no library."""
    query = "select '2026-01-02 03:04:05+00'::timestamptz as t, [now()] as list, 1 as n"
    (row,) = json.loads(call("sql", query, "--format", "json", "--warehouse", demo).stdout)
    assert row["t"].startswith("2026-01-0") and row["n"] == 1


SPILLED = "INTERNAL Error: dict-surviving join: build pipeline is not single-source"


@pytest.mark.parametrize(
    ("message", "limit", "expected"),
    [
        (SPILLED, None, ["512MB", warehouse.half_of_memory()]),
        (SPILLED, "1GB", ["512MB", "1GB"]),
        (SPILLED, "512MB", InputError),
        ("INTERNAL Error: another", None, duckdb.InternalException),
    ],
)
def test_a_join_that_fails_where_another_spills(
    message: str, limit: str | None, expected: list[str] | type[Exception]
) -> None:
    """Everything is built again, and relations get all memory; where they had it, a hint names it.

    Other errors of the engine are shown as they are.
    """
    limits: list[str] = []

    def build(settings: Settings) -> list[str]:
        limits.append(settings.relations_memory)
        if len(limits) == 1:
            raise duckdb.InternalException(message)
        return limits

    settings = Settings((Path("results"),), Path("out"), memory_limit=limit)
    if isinstance(expected, list):
        assert resources.without_spilling(settings, build) == expected
        return
    with pytest.raises(expected) as refused:
        resources.without_spilling(settings, build)
    assert "--memory-limit" in getattr(refused.value, "hint", "--memory-limit")


@pytest.mark.parametrize(
    ("limit", "expected"), [("1GB", ["488.2 MiB", "953.6 MiB"]), ("256MB", ["244.1 MiB"])]
)
def test_relations_get_little_memory_at_first(limit: str, expected: list[str]) -> None:
    """What needs more gets all of the limit, others do not: cached blocks would fill it."""
    settings = Settings((Path("results"),), Path("out"), memory_limit=limit)
    limits: list[str] = []

    def work() -> None:
        limits.extend(*db.execute("select current_setting('memory_limit')").fetchall())
        raise duckdb.OutOfMemoryException

    with duckdb.connect(config={"memory_limit": limit}) as db:
        resources.lower_memory_limit(db, settings)
        with pytest.raises(duckdb.OutOfMemoryException):
            resources.with_more_memory(db, settings, work)
        after = db.execute("select current_setting('memory_limit')").fetchone()
    assert limits == expected
    assert after == (expected[0],)
