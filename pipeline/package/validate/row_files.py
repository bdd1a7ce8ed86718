"""The rollout files of a package, counted: which of their rows have what a row should have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pipeline.report import Source

TASK_ID = "task id"
ROLLOUT_ID = "rollout id"
REWARD = "reward"
OUTPUT = "output"
VERIFIER = "verifier"
METADATA = "metadata"
ID = "id"
# Sidecars under the name of a run are told by their rows.
FAILURE_FIELDS = ("failure_class", "ng_failure_class")
ABOUT_THE_VERDICT = re.compile(
    r"verif|extract|parsed|predict|match|correct|score|judg|pass|error|result|test|valid|verdict"
    r"|feedback|follow|hit$|^info$|grade|accura|reward|success|fail|resolved|exit_code|stdout|stderr|critique",
    re.IGNORECASE,
)
ABOUT_THE_TASK = re.compile(r"metadata|^expected|ground_truth|reference|^answer$", re.IGNORECASE)

COUNTS = """
with

kept as (
    select rollouts.source_file, rollouts.reward, rollouts.has_output, rollouts.is_scored,
        records.reward as written, records.has_reward, records.rollout_index,
        keys.task_id_source
    from rollouts
    inner join raw.records as records using (record_id)
    inner join staging.keys as keys using (record_id)
),

roles as (
    select source_file, count(*) as n_rows,
        count(*) filter (where role = 'failure') as n_failures,
        count(*) filter (where role = 'input') as n_inputs
    from staging.records where file_kind = 'rollouts' group by all
),

counted as (
    select source_file, count(*) as n_rollouts,
        count(*) filter (where is_scored) as n_scored,
        count(*) filter (where left(written, 1) = '"') as n_text_rewards,
        count(*) filter (where has_output) as n_outputs,
        count(*) filter (where rollout_index is not null) as n_numbered,
        count(*) filter (where task_id_source = 'content') as n_nameless,
        mode(task_id_source) filter (where task_id_source <> 'content') as task_field,
        min(reward) as least, max(reward) as most
    from kept group by all
),

repeats as (
    select source_file, max(n) as n_repeats from (
        select source_file, task_id, count(*) as n from rollouts group by all
    ) group by all
)

select artifacts.path, artifacts.n_lines, artifacts.n_blank, artifacts.n_rejects,
    coalesce(roles.n_rows, 0), coalesce(roles.n_failures, 0), coalesce(roles.n_inputs, 0),
    coalesce(counted.n_rollouts, 0), coalesce(counted.n_scored, 0),
    coalesce(counted.n_text_rewards, 0), coalesce(counted.n_outputs, 0),
    coalesce(counted.n_numbered, 0), coalesce(counted.n_nameless, 0),
    counted.task_field, counted.least, counted.most, coalesce(repeats.n_repeats, 0)
from artifacts
left join roles on roles.source_file = artifacts.path
left join counted on counted.source_file = artifacts.path
left join repeats on repeats.source_file = artifacts.path
where artifacts.kind = 'rollouts'
order by artifacts.path
"""
# Of the first rows of a file: its other fields, each with a hash of its value.
FIELDS = """
with

placed as (
    select rollouts.source_file, rollouts.record_id,
        case
            when prompts.prompt = '' then rollouts.run_id || '/' || rollouts.task_id
            else rollouts.prompt_sha
        end as question,
        row_number() over (partition by rollouts.source_file order by rollouts.record_id) as place
    from rollouts
    left join task_prompts as prompts using (run_id, task_id, prompt_sha)
),

entries as (
    select placed.source_file, placed.question, placed.record_id,
        unnest(map_entries(json_fields(records.verifier))) as entry
    from placed inner join raw.records as records using (record_id)
    where placed.place <= 500

    union all

    select placed.source_file, placed.question, placed.record_id,
        {'key': 'reward_components', 'value': records.reward_components} as entry
    from placed inner join raw.records as records using (record_id)
    where placed.place <= 500 and records.reward_components is not null
)

select source_file, record_id, question, entry.key, hash(entry.value::varchar),
    entry.value::varchar in ('true', 'false')
from entries
where entry.value is not null
    and entry.value::varchar not in ('null', '""', '[]', '{}')
order by all
"""
# Of the first rows of each file of inputs: what a task has before anyone attempts it.
GIVEN = """
with placed as (
    select verifier,
        row_number() over (partition by source_file order by record_id) as place
    from staging.records inner join raw.texts using (record_id) where role = 'input'
)
select distinct unnest(map_keys(json_fields(verifier))) from placed where place <= 100
"""
IDS = "select name from raw.id_fields"


@dataclass(frozen=True)
class RowFile:
    """A file that is read as rollouts, and how many of its rows have what."""

    path: str
    n_lines: int
    n_blank: int
    n_rejects: int
    n_rows: int
    n_failures: int
    n_inputs: int
    n_rollouts: int
    n_scored: int
    n_text_rewards: int
    n_outputs: int
    n_numbered: int
    n_nameless: int
    task_field: str | None
    least: float | None
    most: float | None
    n_repeats: int
    # Of the first rows: how many were looked at, and how many say something of each kind.
    n_seen: int = 0
    n_verified: int = 0
    n_described: int = 0

    @property
    def is_posing(self) -> bool:
        """Whether most of its rows are no rollouts, whatever its name says."""
        return not self.n_rows or 2 * (self.n_failures + self.n_inputs) >= self.n_rows

    @property
    def is_scored(self) -> bool:
        """Whether most of its rollouts have a number for a reward."""
        return not self.is_posing and 2 * self.n_scored > self.n_rollouts > 0


def row_files(warehouse: Source) -> tuple[list[RowFile], Mapping[str, tuple[str, ...]]]:
    """The files with their counts, and the fields of their rows by what they are for."""
    counts = warehouse.execute(COUNTS).fetchall()
    rows = warehouse.execute(FIELDS).fetchall()
    given = {name for (name,) in warehouse.execute(GIVEN).fetchall()}
    ids = {name for (name,) in warehouse.execute(IDS).fetchall()}
    kinds = _kinds(rows, given, ids)
    seen: dict[str, dict[int, set[str]]] = {}
    failed: Counter[str] = Counter()
    for path, record, _, name, _, _ in rows:
        seen.setdefault(path, {}).setdefault(record, set()).add(kinds[name])
        failed[path] += name in FAILURE_FIELDS
    files = [_file(row, seen.get(row[0], {}), failed[row[0]]) for row in counts]
    return files, _fields(files, rows, kinds)


def _file(row: Iterable[Any], seen: Mapping[int, set[str]], n_failed: int) -> RowFile:
    counted = RowFile(*row)
    return replace(
        counted,
        n_failures=counted.n_failures + n_failed,
        n_seen=min(500, counted.n_rollouts),
        n_verified=sum(VERIFIER in kinds for kinds in seen.values()),
        n_described=sum(METADATA in kinds for kinds in seen.values()),
    )


def _kinds(rows: list[Any], given: set[str], ids: set[str]) -> dict[str, str]:
    """What each field is for: an id, what the task is, or what came of an attempt."""
    values: dict[tuple[str, str], set[int]] = {}
    telling = set()
    for _, _, question, name, value, is_boolean in rows:
        values.setdefault((name, question), set()).add(value)
        if is_boolean:
            telling.add(name)
    # What differs between attempts at one question came with the attempt.
    telling |= {name for (name, _), found in values.items() if len(found) > 1}
    return {
        name: ID if name in ids else _kind(name, given, is_telling=name in telling)
        for name, _ in sorted(values)
    }


def _kind(name: str, given: set[str], *, is_telling: bool) -> str:
    if name in given:
        return METADATA
    if is_telling:
        return VERIFIER
    if ABOUT_THE_TASK.search(name):
        return METADATA
    return VERIFIER if ABOUT_THE_VERDICT.search(name) else METADATA


def _fields(
    files: list[RowFile], rows: list[Any], kinds: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """The names of fields by purpose; of verifier and metadata the commonest first."""
    often = Counter(name for _, _, _, name, _, _ in rows)
    ranked = sorted(often, key=lambda name: (-often[name], name))
    task_fields = {
        "_ng_task_index" if file.task_field == "index" else file.task_field
        for file in files
        if file.task_field
    }
    return {
        TASK_ID: tuple(sorted(task_fields)),
        ROLLOUT_ID: ("_ng_rollout_index",) if any(file.n_numbered for file in files) else (),
        REWARD: ("reward",) if any(file.n_scored for file in files) else (),
        OUTPUT: ("response",) if any(file.n_outputs for file in files) else (),
        VERIFIER: tuple(name for name in ranked if kinds[name] == VERIFIER),
        METADATA: tuple(name for name in ranked if kinds[name] == METADATA),
    }
