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
    """Rows for a page, the relation and key that their figures are cited by, and their order.

    Without a query of its own a table is the relation, where its condition holds. Order and
    condition are part of a block's source: they must hold of the relation.
    """

    name: str
    relation: str
    key: tuple[str, ...]
    order: str
    query: str = ""
    where: str = ""
    # So many rows of each run that the query gives are the first of the relation.
    n_first: int = 0

    @property
    def select(self) -> str:
        """The query that gives its rows in order."""
        schema = "" if "." in self.relation else "main."
        plain = f"from {schema}{self.relation}" + (f" where {self.where}" if self.where else "")
        return f"{self.query or plain} order by {self.order}"

    @property
    def reads(self) -> list[str]:
        """The relations of ours that its rows come from."""
        return RELATION.findall(self.select)


RUN = ("run_id",)
HEADLINES = Table("headlines", "run_metrics", RUN, "benchmark, place", "from report.headlines")
HEALTH = Table(
    "health",
    "run_health",
    RUN,
    "benchmark, run_id",
    "select run_health.*, benchmark from main.run_health join main.run_metrics using (run_id)",
)
OF_RUNS = (
    Table("curves", "pass_curve", (*RUN, "k"), "run_id, k"),
    Table("estimates", "estimates", (*RUN, "metric", "k"), "run_id, metric, k"),
    Table(
        "policies",
        "denominators",
        (*RUN, "policy"),
        "run_id, list_position(['dropped', 'counted_as_fail'], policy) nulls last, policy",
    ),
    Table("components", "reward_components", (*RUN, "component"), "run_id, component"),
    Table(
        "resources",
        "resource_stats",
        (*RUN, "measure", "outcome"),
        "run_id, list_position(['input_tokens', 'output_tokens', 'turns', 'tool_calls',"
        " 'duration_s'], measure), outcome <> 'passed'",
    ),
    Table(
        "slices",
        "slice_metrics",
        (*RUN, "slice_key", "slice_value"),
        "slice_key, slice_value, run_id",
    ),
    Table("reported", "report.reported", (*RUN, "status", "reason"), "run_id, status, reason"),
    Table("funnels", "funnel", (*RUN, "stage_no"), "run_id, stage_no"),
    Table("losses", "funnel", (*RUN, "stage_no"), "run_id, stage_no", where="n_lost > 0"),
    Table(
        "unscored",
        "denominators",
        (*RUN, "policy"),
        "run_id",
        where="policy = 'dropped' and n_left_out > 0",
    ),
    Table(
        "buckets",
        "bucket_counts",
        (*RUN, "bucket"),
        "run_id, list_position(['always', 'sometimes', 'never', 'missing'], bucket)",
    ),
    Table(
        "modes",
        "failure_modes",
        (*RUN, "mode"),
        "n_rollouts desc, run_id, mode",
        where="n_rollouts > 0",
    ),
    Table(
        "signatures",
        "error_signatures",
        (*RUN, "source", "signature"),
        "n_failed desc, n_rollouts desc, run_id, source, signature",
        """
        from main.error_signatures
        qualify row_number() over (
            partition by run_id order by n_failed desc, n_rollouts desc, source, signature
        ) <= 8
        """,
        n_first=8,
    ),
    Table("explained", "report.explained", RUN, "run_id"),
    Table(
        "causes",
        "report.causes",
        (*RUN, "cause"),
        "run_id, cause = 'UNEXPLAINED', n_tasks desc, cause",
    ),
    Table(
        "labelled",
        "root_causes",
        (*RUN, "task_id"),
        "run_id, try_cast(task_id as bigint), task_id",
        where="not is_suggested",
    ),
    # The clearest of those that could be tested. How far apart both sides are: of rates their
    # difference, of numbers its share of the larger mean.
    Table(
        "separators",
        "separators",
        (*RUN, "feature"),
        "run_id, rank",
        """
        select
            *,
            row_number() over (
                partition by run_id
                order by
                    q_value,
                    coalesce(
                        case kind
                            when 'binary' then abs(rate_when_passed - rate_when_failed)
                            else abs(mean_difference)
                                / nullif(greatest(abs(mean_when_passed), abs(mean_when_failed)), 0)
                        end,
                        0
                    ) desc,
                    feature
            ) as rank
        from main.separators
        where p_value is not null
        qualify rank <= 12
        """,
    ),
    Table("contrasts", "report.contrasts", (*RUN, "task_id"), "rank, run_id"),
    Table("dives", "report.dives", (*RUN, "task_id"), "rank, run_id"),
    # The first row of a run says how many tasks there are in all.
    Table("never_counts", "report.dives", (*RUN, "rank"), "run_id", where="rank = 1"),
    Table(
        "recommendations", "recommendations", (*RUN, "rank"), "kind, n_rollouts desc, run_id, rank"
    ),
    Table("selections", "selection_value", (*RUN, "k"), "run_id, k"),
    HEALTH,
    Table(
        "health_checks",
        "report.health_checks",
        (*RUN, "scope", "check_id"),
        "n_findings desc, run_id, scope, check_id",
    ),
    Table("gaps", "report.gaps", (*RUN, "gap_no"), "gap_no, run_id"),
)
FINDINGS = Table("findings", "report.findings", ("finding_no",), "finding_no")
SERIES = Table("series", "series", ("series", "place"), "series, place")
SERIES_COUNTS = Table("series_counts", "series_counts", ("series",), "series")
TOTALS = Table("totals", "report.task_totals", ("benchmark",), "benchmark")
INVENTORY = Table(
    "inventory", "report.inventory", ("benchmark", "run_id", "kind"), "benchmark, run_id, kind"
)
INPUTS = Table("inputs", "artifacts", ("path",), "path")
NOTICES = Table("notices", "raw.notices", ("no",), "no")
SETTINGS = Table("settings", "raw.report_settings", ("no",), "no")
VERSIONS = Table("versions", "raw.versions", ("no",), "no")

PAIR = ("base", "candidate")
KEY = (*PAIR, "metric")
COMPARISONS = Table("comparisons", "comparisons", KEY, "benchmark, pair_no, not is_lead, metric")
LEDGERS = Table(
    "ledgers",
    "report.ledgers",
    (*KEY, "policy", "ledger", "slice_key", "line_no"),
    "base, candidate, metric, list_position(['task mix', 'bucket transitions', 'failure modes',"
    " 'funnel', 'slices'], ledger), policy desc, slice_key, line_no = 0, line_no",
)
CHANGED = Table(
    "changed_tasks",
    "report.changed_tasks",
    (*KEY, "task_id"),
    "base, candidate, metric, is_gain, rank",
)
TRANSITIONS = Table(
    "transitions",
    "report.transitions",
    (*PAIR, "bucket_before", "bucket_after"),
    "base, candidate, list_position(['always', 'sometimes', 'never'], bucket_before),"
    " list_position(['always', 'sometimes', 'never'], bucket_after)",
)
REFUSED = Table(
    "refused_tasks",
    "comparison_tasks",
    (*PAIR, "task_id"),
    "base, candidate, try_cast(task_id as bigint), task_id",
    """
    select base, candidate, task_id, count(*) over (partition by base, candidate) as n_refused
    from main.comparison_tasks
    where pairing = 'contradicted'
    qualify row_number() over (
        partition by base, candidate order by try_cast(task_id as bigint), task_id
    ) <= 20
    """,
)
DIFFERENCES = Table(
    "comparison_settings", "comparison_settings", (*PAIR, "setting"), "base, candidate, setting"
)
METRICS = Table(
    "comparison_metrics",
    "comparison_metrics",
    KEY,
    """
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
    """
    select *, metric like '%rate' or metric like 'pass%' or metric = 'coverage' as is_rate
    from main.comparison_metrics
    where base_value is not null or candidate_value is not null
    """,
)
# The most changed tasks of each comparison, and of each side of it.
FLIPS = Table(
    "flips",
    "flips",
    (*PAIR, "task_id"),
    "benchmark, pair_no, side desc, rank",
    """
    select
        flips.*,
        benchmark,
        pair_no,
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
    """,
)
# What a page or a program reads of comparisons, all by the pair they are about.
OF_PAIRS = (COMPARISONS, LEDGERS, CHANGED, TRANSITIONS, REFUSED, DIFFERENCES, METRICS, FLIPS)

EVERY = {
    table.name: table
    for table in (
        *(HEADLINES, *OF_RUNS, FINDINGS, SERIES, SERIES_COUNTS, TOTALS),
        *(INVENTORY, INPUTS, NOTICES, SETTINGS, VERSIONS, *OF_PAIRS),
    )
}


def rows(source: Source, table: Table) -> list[Row]:
    """All rows, in the order that the table gives them."""
    return _fetched(source.execute(table.select), table)


def rows_of(source: Source, table: Table, keys: Sequence[tuple[Any, ...]]) -> list[Row]:
    """The rows of these keys, which the table's query reads as `wanted`.

    A list of one of their columns, such as $2, keeps a view from sorting all its texts.
    """
    columns = ", ".join(f"unnest(${no}) as {name}" for no, name in enumerate(table.key, start=1))
    query = f"with wanted as (select {columns}) {table.select}"
    return _fetched(
        source.execute(query, [list(column) for column in zip(*keys, strict=True)]), table
    )


def _fetched(result: Any, table: Table) -> list[Row]:
    names = [column[0] for column in result.description]
    return [
        Row(table.relation, table.key, dict(zip(names, values, strict=True)))
        for values in result.fetchall()
    ]
