"""Random failure modes for runs, and the relations that say what modes are worth, made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import duckdb

from pipeline.profile import Profile
from pipeline.relation import Relation
from pipeline.run import made_relations
from pipeline.settings import SQL_DIR
from pipeline.warehouse import create_macros
from pipeline.warehouse.relations import relations
from tests import value_reference as reference
from tests.reference_run import Key, Run
from tests.value_reference import UNEXPLAINED, Match, Modes

OURS = ("main.ablation", "main.selection_value", "main.mode_value", "main.interventions")
# What would address each mode.
INTERVENTIONS = {
    "EARLY": "prompt",
    "LATE": "prompt",
    "LOST": "infrastructure",
    "LOOP": "harness",
    "WRONG": "training",
}
COLUMNS = (
    "run_id varchar, task_id varchar, rollout_index bigint, mode varchar, rule varchar, "
    "is_primary boolean, evidence_seq bigint, snippet varchar, cause varchar, severity integer, "
    "intervention varchar"
)
Rows = dict[tuple[Any, ...], dict[str, Any]]


def random_modes(run: Run, random: Random) -> dict[Key, list[Match]]:
    """Up to three modes of each attempt that did not pass, of any severity; the first primary."""
    found = {}
    for key in run.grid():
        if reference.passed(run, key):
            continue
        names = random.sample(sorted(INTERVENTIONS), random.choice((0, 1, 1, 2, 3)))
        found[key] = [
            Match(
                name,
                random.randint(1, 3),
                INTERVENTIONS[name],
                is_primary=place == 0,
                evidence_seq=random.choice((None, random.randint(1, 9))),
            )
            for place, name in enumerate(names)
        ] or [Match(UNEXPLAINED, 1, None, is_primary=True)]
    return found


def closure(names: tuple[str, ...]) -> list[Relation]:
    """The relations between the modes and these, in order, these included."""
    ordered = relations(SQL_DIR, made_relations(Profile()))
    after = {"main.rollout_modes"}
    for relation in ordered:
        if after & set(relation.reads):
            after.add(relation.name)
    reads = {relation.name: set(relation.reads) for relation in ordered}
    wanted = set(names)
    for relation in reversed(ordered):
        if relation.name in wanted:
            wanted |= reads[relation.name] & (after - {"main.rollout_modes"})
    return [relation for relation in ordered if relation.name in wanted]


def rebuilt(warehouse: Path, modes: Mapping[str, Modes]) -> duckdb.DuckDBPyConnection:
    """What we look at, made of a warehouse's other relations and of these modes."""
    db = duckdb.connect()
    create_macros(db, SQL_DIR)
    db.execute(f"create schema staging; attach '{warehouse}' as source (read_only)")
    built = closure(OURS)
    given = {name for relation in built for name in relation.reads}
    for name in sorted(given - {relation.name for relation in built} - {"main.rollout_modes"}):
        db.execute("use source")
        db.execute(f"create table memory.{name} as from source.{name}")
    db.execute(f"use memory; create table main.rollout_modes ({COLUMNS})")
    db.execute("""
        create schema raw;
        create table raw.failure_rules (
            mode varchar, intervention varchar, title varchar, cause varchar, severity integer
        )
    """)
    db.executemany(
        "insert into raw.failure_rules (mode, intervention) values (?, ?)",
        list(INTERVENTIONS.items()),
    )
    rows = [
        (run_id, *key, match.mode, "", match.is_primary, match.evidence_seq, "", "", match.severity,
         match.intervention)
        for run_id, found in modes.items()
        for key, matches in found.items()
        for match in matches
    ]  # fmt: skip
    if rows:
        db.executemany(f"insert into main.rollout_modes values ({', '.join('?' * 11)})", rows)
    for relation in built:
        db.execute(f"create table {relation.name} as {relation.query}")
    return db


@dataclass(frozen=True)
class Checked:
    """Runs with their modes, and what was made of them."""

    db: duckdb.DuckDBPyConnection
    runs: Mapping[str, Run]
    modes: Mapping[str, Modes]

    def rows(self, relation: str, *key: str) -> Rows:
        """The rows of a relation by their key."""
        result = self.db.execute(f"from {relation}")
        names = [column[0] for column in result.description or ()]
        found = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
        assert len({tuple(row[name] for name in key) for row in found}) == len(found)
        return {tuple(row[name] for name in key): row for row in found}

    def settled(self) -> Iterator[tuple[str, Run, Modes]]:
        """Runs of which it is known what passes, and that have anything."""
        for name, run in self.runs.items():
            if run.threshold is not None and run.grid():
                yield name, run, self.modes[name]
