"""Runs held against one another: copies of one run, and questions that two have in common."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.report import Source

MOSTLY = 0.9

# A rollout is what was asked and what was said: no index, no order, no model. Where too little was
# said to tell, its score counts too.
ALIKE = """
with

said as (
    select run_id, task_id, rollout_index,
        bit_xor(hash(seq, kind, role, tool, arguments, text)) as words,
        sum(length(coalesce(text, '')) + length(coalesce(arguments, ''))) as n_characters
    from events group by all
),

prints as (
    select rollouts.run_id,
        coalesce(said.n_characters, 0) >= 40 as is_telling,
        hash(
            case when prompts.prompt = '' then '' else rollouts.prompt_sha end,
            said.words,
            case when coalesce(said.n_characters, 0) < 40 then rollouts.reward end
        ) as print,
        count(*) as n
    from rollouts
    left join said using (run_id, task_id, rollout_index)
    left join task_prompts as prompts using (run_id, task_id, prompt_sha)
    group by all
),

sizes as (
    select run_id, sum(n) as n, coalesce(sum(n) filter (where is_telling), 0) as n_telling
    from prints group by all
),

pairs as (
    select first.run_id as one, second.run_id as other,
        sum(least(first.n, second.n)) as n_same,
        coalesce(sum(least(first.n, second.n)) filter (where first.is_telling), 0) as n_telling
    from prints as first
    inner join prints as second on first.print = second.print and first.run_id < second.run_id
    group by all
)

select pairs.one, pairs.other, pairs.n_same, pairs.n_telling, one.n, other.n,
    least(one.n_telling, other.n_telling)
from pairs
inner join sizes as one on one.run_id = pairs.one
inner join sizes as other on other.run_id = pairs.other
order by all
"""
SHARED = """
with

asked as (
    select distinct task_prompts.run_id,
        case when prompt = '' then 'task ' || task_id else prompt_sha end as question
    from task_prompts
    where (run_id, task_id) in (select (run_id, task_id) from rollouts where is_scored)
),

sizes as (select run_id, count(*) as n from asked group by all),

shared as (
    select one.run_id as one, other.run_id as other, count(*) as n
    from asked as one
    inner join asked as other on one.question = other.question and one.run_id < other.run_id
    group by all
)

select one.run_id, other.run_id, one.n, other.n, coalesce(shared.n, 0)
from sizes as one
inner join sizes as other on one.run_id < other.run_id
left join shared on shared.one = one.run_id and shared.other = other.run_id
order by all
"""


@dataclass(frozen=True)
class Copies:
    """Two runs that hold the same rollouts."""

    one: str
    other: str
    n_same: int
    n_smaller: int


@dataclass(frozen=True)
class Overlap:
    """How many questions two runs have in common."""

    one: str
    other: str
    n_smaller: int
    n_shared: int

    @property
    def is_comparable(self) -> bool:
        """At least half of what the smaller one asks."""
        return 2 * self.n_shared >= self.n_smaller > 0


def copies(warehouse: Source) -> list[Copies]:
    """Pairs of runs that are one: all rollouts alike, or nearly all of those that tell."""
    found = []
    for one, other, n_same, n_telling, n_one, n_other, n_could in warehouse.execute(
        ALIKE
    ).fetchall():
        is_equal = n_same == n_one == n_other
        is_nearly = n_could >= 3 and n_telling >= MOSTLY * n_could
        if is_equal or is_nearly:
            found.append(Copies(one, other, int(n_same), int(min(n_one, n_other))))
    return found


def overlaps(warehouse: Source) -> list[Overlap]:
    """Every pair of runs with a score."""
    return [
        Overlap(one, other, min(n_one, n_other), n_shared)
        for one, other, n_one, n_other, n_shared in warehouse.execute(SHARED).fetchall()
    ]
