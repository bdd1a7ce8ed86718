"""A profile as small tables of the schema `raw`: SQL reads tables, not arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb

from pipeline.profile.funnel import stages
from pipeline.profile.paths import json_path
from pipeline.profile.rules import own_rules, rules
from pipeline.profile.values import Profile

SETTINGS = (
    "benchmark varchar, pass_threshold double, task_id_path varchar, reward_path varchar, "
    "answer_path varchar, group_path varchar, has_slices boolean, n_expected_tasks bigint, "
    "has_expected_names boolean, n_expected_repeats bigint"
)

RULES = (
    "rule_no bigint, mode varchar, title varchar, predicate varchar, cause varchar, "
    "severity bigint, intervention varchar, is_words boolean, is_profile boolean, evidence varchar"
)


def write(db: duckdb.DuckDBPyConnection, profile: Profile) -> None:
    """Settings in one row; slices, expected tasks, funnel stages and rules in a table each."""
    paths = [
        None if path is None else json_path(path)
        for path in (profile.task_id, profile.reward, profile.answer, profile.group)
    ]
    names = profile.expected_task_ids
    n_tasks = profile.expected_tasks if names is None else len(names)
    settings = (
        *(profile.benchmark, profile.pass_threshold),
        *paths,
        *(profile.slices is not None, n_tasks, names is not None, profile.expected_repeats),
    )
    _create(db, "settings", SETTINGS, [settings])
    slices = [(name, json_path(name)) for name in profile.slices or ()]
    _create(db, "slice_fields", "name varchar, path varchar", slices)
    _create(db, "expected_tasks", "task_id varchar", [(name,) for name in names or ()])
    _create(db, "baselines", "run_id varchar", [(name,) for name in profile.baselines])
    funnel = [(stage.number, stage.stage, stage.is_optional) for stage in stages(profile)]
    _create(db, "funnel_stages", "stage_no bigint, stage varchar, is_optional boolean", funnel)
    own = own_rules(profile)
    listed = [
        (
            *(number, rule.mode, rule.title, rule.when, rule.cause, rule.severity),
            *(rule.intervention, rule.is_words, rule in own, rule.evidence),
        )
        for number, rule in enumerate(rules(profile), start=1)
    ]
    _create(db, "failure_rules", RULES, listed)


def _create(
    db: duckdb.DuckDBPyConnection, table: str, columns: str, rows: Sequence[tuple[Any, ...]]
) -> None:
    db.execute(f"create table raw.{table} ({columns})")
    if rows:
        marks = ", ".join("?" for _ in rows[0])
        db.executemany(f"insert into raw.{table} values ({marks})", rows)
