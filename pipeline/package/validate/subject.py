"""What the rules look at: a package, its rollouts as an analysis read them, what others found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.files import UnreadableError
from pipeline.package.files import text_of
from pipeline.package.layout import Package
from pipeline.package.verify import Finding, sidecar, verify
from pipeline.report.sources import Opened
from pipeline.text import one_line

PASS, FAIL, WARN, SKIP = "PASS", "FAIL", "WARN", "SKIP"
LONGEST_NAME, MOST_LISTED, MOST_FAILURES = 120, 5, 10

RUNS = "select run_id from runs where 2 * n_scored > n_rollouts order by run_id"
# Files that are read as rollouts, and how many of their rows have what.
FILES = """
with roles as (
    select source_file, count(*) as n_rows,
        count(*) filter (role in ('failure', 'input') or list_has_any(
            map_keys(json_fields(verifier)), ['failure_class', 'ng_failure_class']
        )) as n_others
    from staging.records left join raw.texts using (record_id)
    where file_kind = 'rollouts' group by all
),
counted as (
    select rollouts.source_file, count(*) as n_rollouts,
        count(*) filter (is_scored) as n_scored,
        count(*) filter (left(records.reward, 1) = '"') as n_texts,
        count(*) filter (has_output) as n_outputs,
        count(*) filter (records.rollout_index is not null) as n_numbered,
        count(*) filter (keys.task_id_source <> 'content') as n_named,
        max(keys.task_id_source) filter (keys.task_id_source <> 'content') as task_field,
        min(rollouts.reward) as least, max(rollouts.reward) as most,
        count(distinct (rollouts.run_id, rollouts.task_id)) < count(*) as has_repeats
    from rollouts
    inner join raw.records as records using (record_id)
    inner join staging.keys as keys using (record_id)
    group by all
)
select path, n_lines - n_blank, n_rejects, coalesce(roles.n_rows, 0), coalesce(n_others, 0),
    coalesce(n_rollouts, 0), coalesce(n_scored, 0), coalesce(n_texts, 0), coalesce(n_outputs, 0),
    coalesce(n_numbered, 0), coalesce(n_named, 0), task_field, least, most,
    coalesce(has_repeats, false)
from artifacts
left join roles on roles.source_file = path
left join counted on counted.source_file = path
where kind = 'rollouts' order by path
"""
# Two runs that hold the same rollouts: what was asked and said, under any index, order and model.
# Where little was said, as in a choice of letters, two models may well say the same.
COPIES = """
with prints as (
    select distinct run_id, hash(
        case when prompt = '' then '' else prompt_sha end,
        bit_xor(hash(seq, kind, role, tool, arguments, text))
    ) as print
    from events
    inner join rollouts using (run_id, task_id, rollout_index)
    left join task_prompts using (run_id, task_id, prompt_sha)
    group by run_id, task_id, rollout_index, prompt, prompt_sha
    having sum(length(coalesce(events.text, '')) + length(coalesce(arguments, ''))) >= 40
),
sizes as (select run_id, count(*) as n from prints group by all)
select one.run_id, other.run_id, count(*) as n_same, least(any_value(one.n), any_value(other.n))
from prints
inner join prints as same on same.print = prints.print and prints.run_id < same.run_id
inner join sizes as one on one.run_id = prints.run_id
inner join sizes as other on other.run_id = same.run_id
group by all having count(*) >= greatest(3, 0.9 * least(any_value(one.n), any_value(other.n)))
order by all
"""
# How many questions each two runs with a score have in common, and how many the smaller one asks.
SHARED = """
with asked as (
    select distinct run_id,
        case when prompt = '' then 'task ' || task_id else prompt_sha end as question
    from task_prompts semi join (from rollouts where is_scored) using (run_id, task_id)
),
sizes as (select run_id, count(*) as n from asked group by all)
select one.run_id, other.run_id, count(shared.question) as n_shared, least(one.n, other.n) as n_all
from sizes as one
inner join sizes as other on one.run_id < other.run_id
left join asked on asked.run_id = one.run_id
left join asked as shared on shared.run_id = other.run_id and shared.question = asked.question
group by all order by all
"""


@dataclass(frozen=True)
class RowFile:
    """A file that is read as rollouts, and how many of its rows have what."""

    path: str
    n_lines: int
    n_rejects: int
    n_rows: int
    n_others: int  # failed attempts and inputs
    n_rollouts: int
    n_scored: int
    n_texts: int
    n_outputs: int
    n_numbered: int
    n_named: int
    task_field: str | None
    least: float | None
    most: float | None
    has_repeats: bool

    @property
    def is_posing(self) -> bool:
        """Whether most of its rows are no rollouts, whatever its name says."""
        return not self.n_rows or 2 * self.n_others >= self.n_rows


@dataclass(frozen=True)
class Data:
    """The rollouts of a package, asked of its warehouse once."""

    warehouse: Opened
    scored_runs: Sequence[str]
    files: Sequence[RowFile]
    copies: Sequence[tuple[str, str, int, int]]
    shared: Sequence[tuple[str, str, int, int]]


@dataclass(frozen=True)
class Subject:
    """A package; where nothing is known of its rollouts, `reason` says why."""

    package: Package
    data: Data | None
    reason: str = ""
    least_facts: int = 8
    # What a look for private data found, by place; none where nobody looked.
    leaks: Sequence[tuple[str, int, str]] | None = None
    # What verify found in each report.
    findings: Mapping[Path, Sequence[Finding]] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """How a rule stands; `fix` where this case has one of its own."""

    status: str
    message: str
    file: str = ""
    line: int | None = None
    fix: str = ""


Outcomes = Iterator[Outcome]
# What a check says of one rule after the other.
Told = Iterator[tuple[str, Outcome]]


def gather(warehouse: Opened) -> Data:
    """Ask the warehouse for runs, files and how runs compare."""
    return Data(
        warehouse,
        [run_id for (run_id,) in warehouse.execute(RUNS).fetchall()],
        [RowFile(*row) for row in warehouse.execute(FILES).fetchall()],
        warehouse.execute(COPIES).fetchall(),
        warehouse.execute(SHARED).fetchall(),
    )


def findings(package: Package, warehouse: Opened | None) -> dict[Path, list[Finding]]:
    """What `blade verify` finds in each golden report that can be read, and in its sidecar."""
    found = {}
    for golden in package.goldens:
        text, metrics = read(golden.report), read(golden.metrics)
        if isinstance(text, str):
            side = sidecar.read(metrics, golden.metrics.name) if isinstance(metrics, str) else None
            found[golden.report] = verify(text, golden.report.as_posix(), warehouse, side)
    return found


def read(path: Path) -> str | UnreadableError:
    """The text of a file, or why there is none."""
    try:
        return text_of(path)
    except UnreadableError as error:
        return error


def held(is_met: bool, told: str, file: str = "", line: int | None = None) -> Outcome:
    """It holds or it does not, in the same words."""
    return Outcome(PASS if is_met else FAIL, f"{file}: {told}" if file else told, file, line)


def each(faults: Sequence[str], file: str, well: str) -> Outcomes:
    """A failure for each of the first faults, and how many more; else all is `well`."""
    for fault in faults[:MOST_FAILURES]:
        yield held(False, fault, file)
    if len(faults) > MOST_FAILURES:
        yield held(False, f"{len(faults) - MOST_FAILURES} more", file)
    if not faults:
        yield held(True, well, file)


def listed(names: Sequence[str], most: int = MOST_LISTED) -> str:
    """The first of many, and how many more there are."""
    shown = ", ".join(one_line(each, LONGEST_NAME) for each in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def counted(number: int, noun: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
