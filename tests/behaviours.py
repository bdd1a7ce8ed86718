"""Behaviours of rollouts written by hand or drawn, and the relations made of them alone."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from pipeline.profile import Profile
from pipeline.relation import Computed
from pipeline.run import made_relations
from pipeline.settings import SQL_DIR
from pipeline.warehouse import create_macros
from pipeline.warehouse.relations import relations
from tests.separation_reference import Table

# A behaviour as it was seen: run, task, repeat, pass, feature, kind, value.
Seen = tuple[str, str, int, bool, str, str, float | None]
Rows = dict[tuple[str, str], dict[str, Any]]

COLUMNS = pa.schema(
    {
        "run_id": pa.string(),
        "task_id": pa.string(),
        "rollout_index": pa.int64(),
        "is_pass": pa.bool_(),
        "feature": pa.string(),
        "kind": pa.string(),
        "value": pa.float64(),
    }
)


def separators(seen: Iterable[Seen], query: str = "from main.separators") -> Rows:
    """What a query gives where the separators are made of these behaviours."""
    with duckdb.connect() as db:
        create_macros(db, SQL_DIR)
        db.execute("create schema staging")
        rows = [dict(zip(COLUMNS.names, row, strict=True)) for row in seen]
        db.register("seen", pa.Table.from_pylist(rows, schema=COLUMNS))
        db.execute("create table staging.behaviours as from seen")
        for made in relations(SQL_DIR, made_relations(Profile())):
            if isinstance(made, Computed) and made.name == "main.separators":
                db.register("computed", made.compute(db.sql(made.query).to_arrow_table()))
                db.execute(f"create table {made.name} as from computed")
            elif made.name == "main.separators":
                db.execute(f"create table {made.name} as {made.query}")
        found = db.execute(query)
        names = [column[0] for column in found.description]
        made_rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
        return {(row["run_id"], row["feature"]): row for row in made_rows}


def acts(tables: Sequence[Table], *, run: str = "run", feature: str = "acts") -> list[Seen]:
    """Rollouts of tasks whose counts are the tables'."""
    found: list[Seen] = []
    for task, counts in enumerate(tables):
        kinds = ((True, 1.0), (True, 0.0), (False, 1.0), (False, 0.0))
        each = [kind for kind, count in zip(kinds, counts, strict=True) for _ in range(count)]
        found += [
            (run, str(task), index, is_pass, feature, "binary", value)
            for index, (is_pass, value) in enumerate(each)
        ]
    return found


def measured(
    tasks: Sequence[tuple[list[float], list[float]]], *, run: str = "run", feature: str = "size"
) -> list[Seen]:
    """Rollouts with a number: for each task those of its passes and of its failures."""
    return [
        (run, str(task), index, index < len(passed), feature, "number", value)
        for task, (passed, failed) in enumerate(tasks)
        for index, value in enumerate([*passed, *failed])
    ]


def drawn_runs(seed: int, n_runs: int) -> list[Seen]:
    """Random runs: few tasks and many, ragged repeats, unknown values, all sorts of features."""
    draw = random.Random(seed)
    seen: list[Seen] = []
    for number in range(n_runs):
        n_tasks, n_repeats = draw.choice([1, 2, 5, 12]), draw.choice([2, 3, 6])
        pull = draw.choice([0.0, 0.3, 1.0])
        for task in range(n_tasks):
            for index in range(draw.randint(2, n_repeats)):
                is_pass = draw.random() < 0.5
                lucky = is_pass if draw.random() < pull else draw.random() < 0.4
                values: dict[str, tuple[str, float | None]] = {
                    "pulled": ("binary", float(lucky)),
                    "opposed": ("binary", float(not lucky)),
                    "patchy": ("binary", draw.choice([0.0, 1.0, None])),
                    "rare": ("binary", float(draw.random() < 0.05)),
                    "by task": ("binary", float(task % 2)),
                    "constant": ("binary", 1.0),
                    "count": ("number", float(draw.randint(0, 3) + lucky)),
                    "seconds": ("number", draw.choice([None, draw.lognormvariate(0, 1)])),
                    "task number": ("number", task / 10),
                    "same": ("number", 0.1),
                }
                seen += [
                    (f"r{number}", str(task), index, is_pass, feature, kind, value)
                    for feature, (kind, value) in values.items()
                ]
    return seen
