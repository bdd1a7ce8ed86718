"""Many simulated comparisons in one warehouse, by the SQL of the product.

Only the tables that comparisons read are there; everything from attempts on is made by `sql/`.
"""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa

from pipeline.profile import Profile
from pipeline.run import computed_relations
from pipeline.settings import SQL_DIR
from pipeline.warehouse import Warehouse, create_macros
from pipeline.warehouse.relations import create_from, create_relation, needed, relations

BENCHMARK = "simulated"
# What an analysis would have read from files, of runs that ask the same questions.
INPUTS = {
    "main.runs": "run_id, 'simulated' as benchmark, 1::double as pass_threshold, n_expected",
    "staging.run_benchmarks": (
        "run_id, 'simulated' as benchmark, 0::double as lowest, 1::double as highest"
    ),
}
EMPTY = {
    "staging.task_prompts": "'' as run_id, '' as task_id, '' as question, true as has_prompt",
    "main.paired_tasks": "'' as run_id, '' as task_id, '' as recorded_task_id",
    "staging.run_tasks": "'' as run_id, '' as task_id, '' as task_group",
    "staging.measure_changes": "'' as base, '' as candidate, '' as metric",
}
# One row per attempt: the first of those scored passed, what is not scored is missing.
ATTEMPTS = """
    select
        run_id, task_id,
        unnest(range(n_attempts)) as rollout_index,
        is_expected,
        rollout_index < n_scored as is_recorded,
        rollout_index < n_scored as is_scored,
        case when is_scored then rollout_index < n_passed end as is_pass,
        case when is_scored then is_pass::double end as reward
    from counts
"""


def warehouse(
    runs: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray | None]],
    pairs: list[tuple[str, str]],
    *,
    margin: float,
    families: np.ndarray | None = None,
    is_growing: bool = False,
    wanted: tuple[str, ...] = ("main.comparisons",),
) -> Warehouse:
    """The comparisons of these pairs; a run is its scored, passed and expected repeats by task.

    A task of which nothing is scored or expected is not there. Pairs of a family are candidates
    of one folder.
    """
    db = duckdb.connect()
    db.execute("set threads = 2; set enable_progress_bar = false")
    for schema in ("main", "staging", "raw", "report"):
        db.execute(f"create schema if not exists {schema}")
    create_macros(db, SQL_DIR)
    names = list(runs)
    n_tasks = len(runs[names[0]][0])
    scored, passed = (np.concatenate([runs[name][part] for name in names]) for part in (0, 1))
    expected = [None if runs[name][2] is None else int(runs[name][2].sum()) for name in names]
    attempts = [runs[name][0 if runs[name][2] is None else 2] for name in names]
    counts = pa.table(
        {
            "run_id": np.repeat(names, n_tasks),
            "task_id": np.tile(np.char.mod("%05d", np.arange(n_tasks)), len(names)),
            "n_attempts": np.concatenate(attempts).astype(np.int64),
            "n_scored": scored.astype(np.int64),
            "n_passed": passed.astype(np.int64),
            "is_expected": np.repeat([each is not None for each in expected], n_tasks),
        }
    )
    db.register("counts", counts)
    db.register(
        "given_runs", pa.table({"run_id": names, "n_expected": pa.array(expected, pa.int64())})
    )
    for name, columns in INPUTS.items():
        db.execute(f"create table {name} as select {columns} from given_runs")
    for name, columns in EMPTY.items():
        db.execute(f"create table {name} as select {columns} where false")
    db.execute(f"create table raw.settings as select {is_growing} as is_growing")
    db.execute(f"create table staging.attempts as {ATTEMPTS}")
    of_family = np.ones(len(pairs), dtype=np.int64) if families is None else 1 + families
    create_from(
        db,
        "staging.run_pairs",
        pa.table(
            {
                "benchmark": [BENCHMARK] * len(pairs),
                "base": [base for base, _ in pairs],
                "candidate": [candidate for _, candidate in pairs],
                "pair_no": np.arange(1, len(pairs) + 1),
                "is_named": of_family,
                "margin": np.full(len(pairs), margin),
            }
        ),
    )
    there = {*INPUTS, *EMPTY, "staging.attempts", "staging.run_pairs"}
    every = relations(SQL_DIR, computed_relations(Profile()))
    chosen = needed(every, wanted, within={each.name for each in every} - there) - there
    for relation in every:
        if relation.name in chosen:
            create_relation(db, relation)
    return Warehouse(db)
