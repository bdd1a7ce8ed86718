"""How the attempts of each run fail, read from the warehouse as plain values."""

from __future__ import annotations

from collections import defaultdict

from pipeline.cli.lookup import Row, bounded, known_run, rows
from pipeline.warehouse import Warehouse

MOST_ERRORS = 5
SNIPPET_CHARACTERS = 240
UNEXPLAINED = "UNEXPLAINED"

# Of attempts that are not passes: where what passes is unsettled, a scored one is neither.
RUNS = """
    with attempts as (
        select
            run_id,
            count(*) as n_attempts,
            count(*) filter (where is_pass) as n_passed,
            count(*) filter (where not is_pass and is_scored) as n_failed,
            count(*) filter (where outcome = 'unscored') as n_unscored,
            count(*) filter (where outcome = 'failed attempt') as n_failed_attempts,
            count(*) filter (where outcome = 'missing') as n_missing
        from rollout_features
        group by run_id
    )
    select
        run_id,
        benchmark,
        pass_threshold is not null as is_pass_settled,
        min(min_reward) over (partition by benchmark) as lowest_reward,
        max(max_reward) over (partition by benchmark) as highest_reward,
        coalesce(attempts.n_attempts, 0) as n_attempts,
        case when pass_threshold is not null then coalesce(attempts.n_passed, 0) end as n_passed,
        case when pass_threshold is not null then coalesce(attempts.n_failed, 0) end as n_failed,
        coalesce(attempts.n_unscored, 0) as n_unscored,
        coalesce(attempts.n_failed_attempts, 0) as n_failed_attempts,
        coalesce(attempts.n_missing, 0) as n_missing
    from run_metrics
    left join attempts using (run_id)
    order by run_id
"""
# What was never recorded has no rollout to open: it is cited by its place in the grid.
MODES = """
    with firsts as (
        select
            run_id,
            mode,
            arg_min(task_id || ':' || rollout_index, (task_id, rollout_index)) as first
        from rollout_modes
        where is_primary
        group by all
    )
    select
        modes.run_id,
        modes.mode,
        modes.title,
        modes.default_cause as cause,
        modes.intervention,
        modes.n_rollouts,
        modes.n_tasks,
        modes.n_matched,
        modes.share_of_failures,
        coalesce(modes.example, modes.run_id || '/' || firsts.first) as example,
        modes.example is not null as is_example_recorded,
        modes.snippet
    from failure_modes as modes
    left join firsts using (run_id, mode)
    order by run_id, n_rollouts desc, n_tasks desc, n_matched desc, mode
"""
ERRORS = """
    with settled as (
        select run_id, pass_threshold is not null as is_pass_settled from runs
    )
    select
        run_id,
        source,
        signature,
        n_events,
        n_rollouts,
        case when is_pass_settled then n_failed end as n_failed,
        n_tasks,
        example
    from error_signatures
    inner join settled using (run_id)
    qualify row_number() over (
        partition by run_id order by n_rollouts desc, n_events desc, source, signature
    ) <= ?
    order by run_id, n_rollouts desc, n_events desc, source, signature
"""
CAUSES = """
    select
        run_id,
        cause,
        confidence,
        is_suggested,
        count(*) as n_tasks,
        min(run_id || '/' || task_id) as example
    from root_causes
    group by all
    order by run_id, n_tasks desc, cause, is_suggested, confidence
"""


def failures(warehouse: Warehouse, run_id: str | None, *, limit: int | None) -> list[Row]:
    """Every run, or the one asked for; `limit` bounds the modes and errors of each."""
    if run_id is not None:
        known_run(warehouse, run_id)
    modes = _by_run(rows(warehouse, MODES))
    errors = _by_run(rows(warehouse, ERRORS, limit or MOST_ERRORS))
    causes = _by_run(rows(warehouse, CAUSES))
    return [
        _run(run, modes[name], errors[name], causes[name], limit)
        for run in rows(warehouse, RUNS)
        if run_id in (None, name := run["run_id"])
    ]


def _by_run(found: list[Row]) -> dict[str, list[Row]]:
    grouped: dict[str, list[Row]] = defaultdict(list)
    for row in found:
        grouped[row.pop("run_id")].append(row)
    return grouped


def _run(
    run: Row, modes: list[Row], errors: list[Row], causes: list[Row], limit: int | None
) -> Row:
    """The counts of a run, with what no rule explains before anything that one does."""
    n_not_passed = sum(mode["n_rollouts"] for mode in modes)
    n_unexplained = sum(mode["n_rollouts"] for mode in modes if mode["mode"] == UNEXPLAINED)
    n_without_cause = sum(mode["n_rollouts"] for mode in modes if mode["cause"] == UNEXPLAINED)
    for mode in modes:
        mode["snippet"] = bounded(mode["snippet"], SNIPPET_CHARACTERS)
    return {
        **run,
        "n_not_passed": n_not_passed,
        "n_unexplained": n_unexplained,
        "unexplained_share": n_unexplained / n_not_passed if n_not_passed else None,
        "n_without_cause": n_without_cause - n_unexplained,
        "n_modes": len(modes),
        "modes": modes[:limit],
        "error_signatures": errors,
        "root_causes": causes,
    }
