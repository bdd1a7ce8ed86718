"""How runs fail and whether they can be trusted, as plain values."""

from __future__ import annotations

from pipeline.answers.names import Row, bounded, find_run, grouped
from pipeline.report import HEALTH
from pipeline.warehouse import Warehouse

MOST_ERRORS = 5
SNIPPET_CHARACTERS = 240
UNEXPLAINED = "UNEXPLAINED"
RUNS = """
    with attempts as (
        select
            run_id,
            count(*) as n_attempts,
            count(*) filter (outcome = 'failed attempt') as n_failed_attempts,
            count(*) filter (outcome = 'missing') as n_missing
        from rollout_features
        group by all
    )
    select
        run_id,
        benchmark,
        pass_threshold is not null as is_pass_settled,
        min(min_reward) over (partition by benchmark) as lowest_reward,
        max(max_reward) over (partition by benchmark) as highest_reward,
        coalesce(n_attempts, 0) as n_attempts,
        n_passed, n_failed, n_unscored,
        coalesce(attempts.n_failed_attempts, 0) as n_failed_attempts,
        coalesce(attempts.n_missing, 0) as n_missing
    from run_metrics
    left join attempts using (run_id)
    order by run_id
"""
# What was never recorded has no rollout to open: it is cited by its place in the grid.
MODES = """
    select
        * exclude (severity, n_failures, snippet, first)
            replace (coalesce(example, run_id || '/' || first) as example)
            rename (default_cause as cause),
        example is not null as is_example_recorded,
        snippet
    from failure_modes
    left join (
        select
            run_id,
            mode,
            arg_min(task_id || ':' || rollout_index, (task_id, rollout_index)) as first
        from rollout_modes
        where is_primary
        group by all
    ) using (run_id, mode)
    order by run_id, n_rollouts desc, n_tasks desc, n_matched desc, mode
"""
ERRORS = """
    select
        run_id, source, signature, n_events, n_rollouts,
        case when pass_threshold is not null then n_failed end as n_failed,
        n_tasks, example
    from error_signatures
    inner join (select run_id, pass_threshold from runs) using (run_id)
    qualify row_number() over (
        partition by run_id order by n_rollouts desc, n_events desc, source, signature
    ) <= ?
    order by run_id, n_rollouts desc, n_events desc, source, signature
"""
EXPLAINED = "select * exclude (n_failures) from report.explained order by run_id"
# What attempts with a sign pass less often by, where that is surer than chance.
ASSOCIATIONS = """
    select run_id, sign, source, n_signed, share, risk_difference, risk_low, risk_high, points
    from associations where ci_low > 0
    order by run_id, points desc, sign
"""
# Modes that a profile declares are never dropped in silence.
UNCOUNTED = """
    select
        run_id, sign as mode, q_value,
        n_signed_failed, n_signed - n_signed_failed as n_signed_passed
    from mode_tests inner join (select run_id, benchmark from runs) using (benchmark)
    where source = 'profile' and not is_counted
    order by run_id, mode
"""
CAUSES = """
    select
        run_id, cause, confidence, is_suggested,
        count(*) as n_tasks,
        min(run_id || '/' || task_id) as example
    from root_causes
    group by all
    order by run_id, n_tasks desc, cause, is_suggested, confidence
"""


def ranked_failures(warehouse: Warehouse, name: str | None, limit: int | None) -> list[Row]:
    """What fails in all runs or in one: modes, errors, causes, and how much is unexplained."""
    chosen = None if name is None else find_run(warehouse, name)["run_id"]
    modes = grouped(warehouse.rows(MODES), "run_id")
    errors = grouped(warehouse.rows(ERRORS, limit or MOST_ERRORS), "run_id")
    causes = grouped(warehouse.rows(CAUSES), "run_id")
    explained = {each.pop("run_id"): each for each in warehouse.rows(EXPLAINED)}
    associations = grouped(warehouse.rows(ASSOCIATIONS), "run_id")
    uncounted = grouped(warehouse.rows(UNCOUNTED), "run_id")
    return [
        {
            **run,
            **_counts(modes[run_id]),
            "modes": [
                {**mode, "snippet": bounded(mode["snippet"], SNIPPET_CHARACTERS)}
                for mode in modes[run_id][:limit]
            ],
            "explained": explained.get(run_id),
            "associations": associations[run_id],
            "uncounted_modes": uncounted[run_id],
            "error_signatures": errors[run_id],
            "root_causes": causes[run_id],
        }
        for run in warehouse.rows(RUNS)
        if chosen in (None, run_id := run["run_id"])
    ]


def _counts(modes: list[Row]) -> Row:
    """What no rule explains, before anything that one does."""
    n_not_passed = sum(mode["n_rollouts"] for mode in modes)
    n_unexplained = sum(mode["n_rollouts"] for mode in modes if mode["mode"] == UNEXPLAINED)
    n_without_cause = sum(mode["n_rollouts"] for mode in modes if mode["cause"] == UNEXPLAINED)
    return {
        "n_not_passed": n_not_passed,
        "n_unexplained": n_unexplained,
        "unexplained_share": n_unexplained / n_not_passed if n_not_passed else None,
        "n_without_cause": n_without_cause - n_unexplained,
        "n_modes": len(modes),
    }


def checked_health(warehouse: Warehouse, name: str | None) -> Row:
    """How healthy all runs are, or one, and what the checks found there."""
    chosen = None if name is None else find_run(warehouse, name)["run_id"]
    runs, checks = (
        [row for row in warehouse.rows(query) if chosen in (None, row["run_id"])]
        for query in (HEALTH.select, "from report.health_checks")
    )
    return {"runs": runs, "checks": checks}
