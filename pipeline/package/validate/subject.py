"""What the rules look at: a package, its rollouts as an analysis read them, what others found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.files import UnreadableError
from pipeline.package.files import text_of
from pipeline.package.layout import Golden, Package
from pipeline.package.verify import Finding, sidecar, verify
from pipeline.report.sources import Opened
from pipeline.text import one_line

PASS, FAIL, WARN, SKIP = "PASS", "FAIL", "WARN", "SKIP"
LONGEST_NAME, MOST_LISTED = 120, 5

RUNS = "select run_id, n_rollouts, n_scored, is_unsafe from runs order by run_id"
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
# Where too little was said to tell, its score counts too.
COPIES = """
with said as (
    select run_id, task_id, rollout_index,
        bit_xor(hash(seq, kind, role, tool, arguments, text)) as words,
        sum(length(coalesce(text, '')) + length(coalesce(arguments, ''))) >= 40 as is_telling
    from events group by all
),
prints as (
    select run_id, coalesce(is_telling, false) as is_telling, count(*) as n, hash(
        case when prompt = '' then '' else prompt_sha end, words,
        case when coalesce(is_telling, false) then null else reward end
    ) as print
    from rollouts
    left join said using (run_id, task_id, rollout_index)
    left join task_prompts using (run_id, task_id, prompt_sha)
    group by all
),
sizes as (
    select run_id, sum(n) as n, coalesce(sum(n) filter (is_telling), 0) as n_telling
    from prints group by all
),
pairs as (
    select one.run_id as one, other.run_id as other, sum(least(one.n, other.n)) as n_same,
        coalesce(sum(least(one.n, other.n)) filter (one.is_telling), 0) as n_telling
    from prints as one
    inner join prints as other on one.print = other.print and one.run_id < other.run_id
    group by all
)
select pairs.one, pairs.other, n_same::bigint, least(one.n, other.n)::bigint
from pairs
inner join sizes as one on one.run_id = pairs.one
inner join sizes as other on other.run_id = pairs.other
where (n_same = one.n and n_same = other.n)
    or (least(one.n_telling, other.n_telling) >= 3
        and pairs.n_telling >= 0.9 * least(one.n_telling, other.n_telling))
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
class Run:
    """A run of the rollouts."""

    run_id: str
    n_rollouts: int
    n_scored: int
    is_unsafe: bool

    @property
    def is_scored(self) -> bool:
        """Whether most of its rollouts have a score."""
        return 2 * self.n_scored > self.n_rollouts


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
    runs: Sequence[Run]
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


def gather(warehouse: Opened) -> Data:
    """Ask the warehouse for runs, files and how runs compare."""
    return Data(
        warehouse,
        [Run(*row) for row in warehouse.execute(RUNS).fetchall()],
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


def name(path: Path) -> str:
    """A file as the answer calls it: with the folder it stands in."""
    return f"{path.parent.name}/{path.name}"


def reports(subject: Subject) -> list[tuple[Golden, str]]:
    """The golden reports that can be read, each with its text."""
    given = [(golden, read(golden.report)) for golden in subject.package.goldens]
    return [(golden, text) for golden, text in given if isinstance(text, str)]


def listed(names: Sequence[str], most: int = MOST_LISTED) -> str:
    """The first of many, and how many more there are."""
    shown = ", ".join(one_line(each, LONGEST_NAME) for each in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def counted(number: int, noun: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
