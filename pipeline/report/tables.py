"""The tables of a report: what each reads, in which order, and how its figures are cited."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pipeline.report.figures import Row

RELATION = re.compile(r"\b(?:from|join) ((?:staging|main|report)\.\w+)")


class Source(Protocol):
    """Whatever answers a query: the warehouse being built, or one opened again."""

    def execute(self, query: str, parameters: list[Any] | None = None, /) -> Any:
        """Run a query and leave its rows to be fetched."""


@dataclass(frozen=True)
class Table:
    """Rows for a page, and the relation and key that their figures are cited by.

    Without a query of its own a table is the relation of its name in `report`.
    """

    name: str
    relation: str
    key: tuple[str, ...]
    query: str = ""

    @property
    def select(self) -> str:
        """The query that gives its rows in order."""
        return self.query or f"from report.{self.name}"

    @property
    def reads(self) -> list[str]:
        """The relations of ours that its rows come from."""
        return RELATION.findall(self.select)

    @property
    def shown(self) -> str:
        """The relation that a reader asks to see these rows, and perhaps more."""
        return self.relation if self.query else f"report.{self.name}"


RUN = ("run_id",)
HEADLINES = Table("headlines", "run_metrics", RUN)
HEALTH = Table(
    "health",
    "run_health",
    RUN,
    """
    select run_health.*, run_metrics.benchmark
    from main.run_health
    inner join main.run_metrics using (run_id)
    order by benchmark, run_id
    """,
)
OF_RUNS = (
    Table(
        "curves",
        "pass_curve",
        (*RUN, "k"),
        """
        select
            *,
            k <= 8 or k in (16, 32, 64, 128, 256, 512) or k = max(k) over (partition by run_id)
                as is_printed
        from main.pass_curve
        order by run_id, k
        """,
    ),
    Table(
        "bands",
        "estimates",
        (*RUN, "metric", "k"),
        """
        from main.estimates
        where metric in ('pass_at', 'pass_hat')
        order by run_id, metric, k
        """,
    ),
    Table(
        "uncertainties",
        "estimates",
        (*RUN, "metric", "k"),
        """
        select
            estimates.*,
            case metric
                when 'mean_reward' then 'mean reward'
                when 'pass_at' then 'pass@' || estimates.k
                else 'pass^' || estimates.k
            end as label,
            metric = 'mean_reward' as is_reward
        from main.estimates
        inner join main.run_metrics using (run_id)
        where case metric
            when 'pass_at' then estimates.k in (1, run_metrics.k // 2, run_metrics.k)
            when 'pass_hat' then
                estimates.k > 1 and estimates.k in (run_metrics.k // 2, run_metrics.k)
            when 'mean_reward' then run_metrics.is_graded or run_metrics.pass_at_1 is null
        end
        order by run_id, metric, estimates.k
        """,
    ),
    Table(
        "policies",
        "denominators",
        (*RUN, "policy"),
        """
        select
            *,
            case policy
                when 'dropped' then 'dropped (the headline)'
                when 'counted_as_fail' then 'counted as failed'
                when 'ungraded_dropped' then 'ungraded dropped too'
                else 'infrastructure dropped, the rest failed'
            end as label
        from main.denominators
        order by run_id, list_position(['dropped', 'counted_as_fail'], policy) nulls last
        """,
    ),
    Table(
        "components",
        "reward_components",
        (*RUN, "component"),
        "from main.reward_components order by run_id, component",
    ),
    Table(
        "resources",
        "resource_stats",
        (*RUN, "outcome", "measure"),
        """
        select
            *,
            case measure when 'duration_s' then 'seconds' else replace(measure, '_', ' ') end
                as label
        from main.resource_stats
        order by
            run_id,
            list_position(
                ['input_tokens', 'output_tokens', 'turns', 'tool_calls', 'duration_s'], measure
            ),
            outcome <> 'passed'
        """,
    ),
    Table(
        "slices",
        "slice_metrics",
        (*RUN, "slice_key", "slice_value"),
        "from main.slice_metrics order by run_id, slice_key, slice_value",
    ),
    Table("reported", "report.reported", (*RUN, "status", "reason")),
    Table("funnels", "report.funnels", (*RUN, "stage_no")),
    Table(
        "buckets",
        "bucket_counts",
        (*RUN, "bucket"),
        """
        from main.bucket_counts
        order by run_id, list_position(['always', 'sometimes', 'never', 'missing'], bucket)
        """,
    ),
    Table(
        "bucket_tasks",
        "task_outcomes",
        (*RUN, "task_id"),
        # A few of each bucket that asks for a look: an equal number of passes and failures tells
        # most; of what never passes, what came nearest to it.
        """
        with chosen as (
            select
                *,
                list_position(['sometimes', 'never', 'missing'], bucket) as place,
                row_number() over (
                    partition by run_id, bucket
                    order by
                        if(place = 1, abs(pass_rate - 0.5), -coalesce(max_reward, 0)),
                        try_cast(task_id as bigint),
                        task_id
                ) as rank
            from main.task_outcomes
            where place is not null
            qualify rank <= 10
        )
        select
            run_id,
            task_id,
            bucket,
            n_scored,
            n_passed,
            max_reward,
            left(prompt, 200) as prompt,
            run_id || '/' || task_id || ':' || passing_index as passing,
            run_id || '/' || task_id || ':' || failing_index as failing
        from chosen
        left join staging.run_tasks using (run_id, task_id)
        left join main.task_prompts using (run_id, task_id, prompt_sha)
        left join (
            select
                run_id,
                task_id,
                min(rollout_index) filter (is_pass) as passing_index,
                min(rollout_index) filter (not is_pass) as failing_index
            from staging.rollouts
            semi join chosen using (run_id, task_id)
            group by all
        ) using (run_id, task_id)
        order by run_id, place, rank
        """,
    ),
    Table("modes", "report.modes", (*RUN, "mode")),
    Table(
        "signatures",
        "error_signatures",
        (*RUN, "source", "signature"),
        """
        select
            *,
            row_number() over (
                partition by run_id order by n_failed desc, n_rollouts desc, source, signature
            ) as rank
        from main.error_signatures
        qualify rank <= 8
        order by run_id, rank
        """,
    ),
    Table("explained", "report.explained", RUN),
    Table("causes", "report.causes", (*RUN, "cause")),
    Table("separators", "report.separators", (*RUN, "feature")),
    Table("contrasts", "report.contrasts", (*RUN, "task_id")),
    Table("dives", "report.dives", (*RUN, "task_id")),
    Table("never_counts", "report.never_counts", RUN),
    Table(
        "recommendations",
        "recommendations",
        (*RUN, "rank"),
        "from main.recommendations order by run_id, rank",
    ),
    Table(
        "selections",
        "selection_value",
        (*RUN, "k"),
        """
        select
            *,
            k > 1
            and (
                k <= 8
                or k in (16, 32, 64, 128, 256, 512)
                or k = max(k) over (partition by run_id)
            ) as is_printed
        from main.selection_value
        order by run_id, k
        """,
    ),
    Table("run_inventory", "report.run_inventory", (*RUN, "kind")),
    HEALTH,
    Table("health_checks", "report.health_checks", (*RUN, "scope", "check_id")),
    Table("gaps", "report.gaps", (*RUN, "gap_no")),
)
FINDINGS = Table("findings", "report.findings", ("finding_no",))
SERIES = Table("series", "report.series", ("series", "place_no"))
# Of all runs together; a report on one run says the same from its own tables.
TOTALS = (
    Table("task_totals", "report.task_totals", ("benchmark",)),
    Table("mode_totals", "report.mode_totals", ("mode",)),
)
INVENTORY = Table("inventory", "report.inventory", ("kind",))
INPUTS = Table("inputs", "artifacts", ("path",), "from main.artifacts order by path")
NOTICES = Table("notices", "raw.notices", ("no",), "from raw.notices order by no")
SETTINGS = Table("settings", "raw.report_settings", ("no",), "from raw.report_settings order by no")
VERSIONS = Table("versions", "raw.versions", ("no",), "from raw.versions order by no")

PAIR = ("base", "candidate")
KEY = (*PAIR, "metric")
COMPARISONS = Table(
    "comparisons",
    "comparisons",
    KEY,
    "from main.comparisons order by benchmark, pair_no, base, candidate, not is_lead",
)
LEDGERS = Table("ledgers", "report.ledgers", (*KEY, "policy", "ledger", "slice_key", "line_no"))
CHANGED = Table("changed_tasks", "report.changed_tasks", (*KEY, "task_id"))
TRANSITIONS = Table("transitions", "report.transitions", (*PAIR, "bucket_before", "bucket_after"))
REFUSED = Table(
    "refused_tasks",
    "comparison_tasks",
    (*PAIR, "task_id"),
    """
    select
        base,
        candidate,
        task_id,
        count(*) over (partition by base, candidate) as n_refused
    from main.comparison_tasks
    where pairing = 'contradicted'
    qualify row_number() over (
        partition by base, candidate order by try_cast(task_id as bigint), task_id
    ) <= 20
    order by base, candidate, try_cast(task_id as bigint), task_id
    """,
)
DIFFERENCES = Table(
    "comparison_settings",
    "comparison_settings",
    (*PAIR, "setting"),
    "from main.comparison_settings order by base, candidate, setting",
)
METRICS = Table(
    "comparison_metrics",
    "comparison_metrics",
    KEY,
    """
    select *, metric like '%rate' or metric like 'pass%' or metric = 'coverage' as is_rate
    from main.comparison_metrics
    where base_value is not null or candidate_value is not null
    order by
        base,
        candidate,
        list_position(
            [
                'pass_at_k', 'pass_hat_k', 'coverage', 'failed_attempt_rate', 'missing_rate',
                'unscored_rate', 'clean_rate', 'input_tokens', 'output_tokens', 'n_turns',
                'n_tool_calls', 'n_tool_errors', 'duration_s'
            ],
            metric
        )
    """,
)
# The most changed tasks of each comparison, and of each side of it.
FLIPS = Table(
    "flips",
    "flips",
    (*PAIR, "task_id"),
    """
    select
        flips.*,
        outcomes.base_n_passed,
        outcomes.base_n_scored,
        outcomes.candidate_n_passed,
        outcomes.candidate_n_scored,
        tasks.prompt,
        row_number() over (
            partition by base, candidate, side
            order by abs(change) desc, try_cast(task_id as bigint), task_id
        ) as rank
    from main.flips
    inner join main.comparison_tasks as outcomes using (base, candidate, task_id)
    inner join staging.run_pairs using (benchmark, base, candidate)
    inner join main.tasks using (benchmark, task_id)
    qualify rank <= 3
    order by benchmark, pair_no, side desc, rank
    """,
)
# What a page or a program reads of comparisons, all by the pair they are about.
OF_PAIRS = (COMPARISONS, LEDGERS, CHANGED, TRANSITIONS, REFUSED, DIFFERENCES, METRICS, FLIPS)

EVERY = {
    table.name: table
    for table in (
        *(HEADLINES, *OF_RUNS, FINDINGS, SERIES, *TOTALS),
        *(INVENTORY, INPUTS, NOTICES, SETTINGS, VERSIONS, *OF_PAIRS),
    )
}


def rows(source: Source, table: Table) -> list[Row]:
    """All rows, in the order that the table gives them."""
    return _fetched(source.execute(table.select), table)


def rows_of(source: Source, table: Table, keys: Sequence[tuple[Any, ...]]) -> list[Row]:
    """The rows of these keys, which the table's query reads as `wanted`."""
    columns = ", ".join(f"unnest(?) as {name}" for name in table.key)
    query = f"with wanted as (select {columns}) {table.query}"
    return _fetched(
        source.execute(query, [list(column) for column in zip(*keys, strict=True)]), table
    )


def _fetched(result: Any, table: Table) -> list[Row]:
    names = [column[0] for column in result.description]
    return [
        Row(table.relation, table.key, dict(zip(names, values, strict=True)))
        for values in result.fetchall()
    ]
