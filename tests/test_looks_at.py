"""What a relation looks at, as its header says: made of parts it has the rows of the whole."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from pipeline.profile import Profile
from pipeline.relation import Relation
from pipeline.run import computed_relations, part
from pipeline.settings import SQL_DIR, Settings
from pipeline.warehouse import create_macros
from pipeline.warehouse.build import SCHEMAS
from pipeline.warehouse.relations import computed, relations
from tests.case_files import cases, filled
from tests.conftest import DEMO
from tests.results import called, failure, lines, rollout, write, wrote

EVERY = relations(SQL_DIR, computed_relations(Profile()))
RAW = re.compile(r"\b(?:from|join)\s+(raw\.\w+)")
# The part that a row is in, by the first of these columns that its table has. Tables with none of
# them are given whole.
PARTS = {
    # Stretches of two lines of each file.
    "rollout": {"record_id": "record_id // 2"},
    "task": {
        "task_id": "task_id",
        "record_id": "(select task_id from memory.places where id = record_id)",
    },
    "run": {
        "benchmark": "benchmark",
        "run_id": "(select any_value(benchmark) from memory.places where run = run_id)",
        "base": "(select any_value(benchmark) from memory.places where run = base)",
        "record_id": "(select any_value(benchmark) from memory.places where id = record_id)",
        "run_name": "(select any_value(benchmark) from memory.places where name = run_name)",
        "file_no": "(select any_value(benchmark) from memory.places where file = file_no)",
    },
}
PLACES = """
    create table places as
    select
        keys.record_id as id,
        files.file_no as file,
        files.run_name as name,
        run_benchmarks.run_id as run,
        keys.task_id,
        benchmark
    from whole.raw.files
    inner join whole.staging.run_keys using (run_name)
    inner join whole.staging.run_benchmarks using (run_id)
    left join whole.staging.keys
        on keys.run_id = run_benchmarks.run_id
        and keys.record_id >> 40 = file_no
"""
# What has other columns of these names, and what says of a rejected line which rollout it was.
GIVEN = ("raw.settings", "raw.rejects", "raw.labels", "raw.label_mentions", "raw.suite_benchmarks")
N_PARTS = 3
OBSERVED = {"records": [{"kind": "tool_call", "tool_call_id": "c", "status": "timeout"}]}


def with_steps(results: Path, out: Path) -> Path:
    """A warehouse with all relations, steps too."""
    return part(Settings((results,), out), [relation.name for relation in EVERY])


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Repeats, agents that share a file, rows twice, rejects between, another harness's file."""
    rows = [
        rollout(task, index, agent=agent, output=[*wrote("first"), *called("find", {"q": task})])
        for agent in ("one", "two")
        for task in range(3)
        for index in range(2)
    ]
    failing = called("send", {"to": "a@b.org"}, '{"error": "no such user"}')
    turns = {"ng_trajectory": {"turns": [], "model_calls": []}, "ng_agent_observations": OBSERVED}
    rows += [rollout(7, 0, agent="one", output=[*failing, *called("send", "{]")], **turns)]
    # The second half of the file has the same attempts once more.
    torn = [json.dumps(row) for row in (*rows, *rows[3:9])]
    torn.insert(2, '{"_ng_task_index": 9,')
    torn.insert(5, "[]")
    elsewhere = [
        filled("formats", "verifiers_rollout", example=example, reward=example / 2, start=20.0)
        for example in range(3)
    ]
    files = {
        "a_rollouts.jsonl": "\n".join(torn),
        "b_rollouts.jsonl": lines(rollout(task, 0, reward=None) for task in range(4)),
        "b_failures.jsonl": lines([failure(3, 1, "crash")]),
        "verifiers/results.jsonl": lines(elsewhere),
        "verifiers/metadata.json": json.dumps(cases("formats", "verifiers_metadata")),
    }
    folder = tmp_path_factory.mktemp("odd")
    return with_steps(write(folder / "results", files), folder / "out")


@contextmanager
def opened(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with the warehouse beside it, and where each of its rows belongs."""
    with duckdb.connect(":memory:") as db:
        db.execute("set disabled_optimizers = 'statistics_propagation'")
        db.execute(f"attach '{path}' as whole (read_only)")
        db.execute(PLACES)
        yield db


def differing(db: duckdb.DuckDBPyConnection, relation: Relation, looks_at: str) -> list[str]:
    """The relation, if its rows made part by part are others than those of the whole."""
    for number in range(N_PARTS):
        db.execute(f"attach ':memory:' as part{number}; use part{number}")
        create_macros(db, SQL_DIR)
        for schema in SCHEMAS:
            db.execute(f"create schema {schema}")
        for name in {*RAW.findall(relation.query), *relation.reads}:
            columns = [column for column, *_ in db.execute(f"describe whole.{name}").fetchall()]
            given = name in (*GIVEN, *relation.beside)
            column = next((each for each in PARTS[looks_at] if each in columns and not given), None)
            place = f"hash({PARTS[looks_at][column]}) % {N_PARTS}" if column else number
            where = f"where {place} = {number}"
            db.execute(f"create view {name} as from whole.{name} {where}")
        with computed(db, relation) as query:
            db.execute(f"create table memory.made{number} as {query}")
        db.execute(f"use memory; detach part{number}")
    parts = " union all ".join(f"from made{number}" for number in range(N_PARTS))
    whole = f"from whole.{relation.name}"
    lost = db.execute(f"{whole} except all ({parts})").fetchall()
    added = db.execute(f"({parts}) except all {whole}").fetchall()
    for number in range(N_PARTS):
        db.execute(f"drop table made{number}")
    return [relation.name] if lost or added else []


def named(name: str) -> Relation:
    """The relation of this name."""
    return next(relation for relation in EVERY if relation.name == name)


@pytest.mark.slow
def test_rollouts_are_looked_at_one_by_one(odd: Path) -> None:
    """Made of any stretches of lines, what looks at a rollout has the rows of the whole."""
    chosen = [relation for relation in EVERY if relation.looks_at == "rollout"]
    with opened(odd) as db:
        for relation in chosen:
            assert db.execute(f"from whole.{relation.name} limit 1").fetchall(), relation.name
        assert [name for each in chosen for name in differing(db, each, "rollout")] == []
        # Which of several rows counts, no row shows by itself.
        assert differing(db, named("staging.recorded_keys"), "rollout")


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("looks_at", ["task", "run"])
def test_tasks_and_runs_are_looked_at_one_by_one(odd: Path, tmp_path: Path, looks_at: str) -> None:
    """So has what looks at a task or a benchmark, made of some of them at a time."""
    chosen = [relation for relation in EVERY if relation.looks_at == looks_at]
    for path in (odd, with_steps(DEMO, tmp_path)):
        with opened(path) as db:
            assert [name for each in chosen for name in differing(db, each, looks_at)] == []
