"""How runs fail and whether they can be trusted, as plain values."""

from __future__ import annotations

from pipeline.answers.names import Row, find_run, grouped
from pipeline.report import HEALTH
from pipeline.warehouse import Warehouse

MOST_ERRORS = 5
# A failure that shares no sign with others.
NO_SHARED_SIGN = "no shared sign"
RUNS = """
    with attempts as (
        select
            run_id,
            count(*) as n_attempts,
            count(*) filter (outcome = 'failed attempt') as n_failed_attempts,
            count(*) filter (outcome = 'missing') as n_missing
        from rollout_features
        group by all
    ),
    failing as (
        select run_id, count(*) as n_not_passed
        from rollout_modes
        where is_primary
        group by all
    )
    select
        run_id,
        benchmark,
        pass_threshold is not null as is_pass_settled,
        min(min_reward) over (partition by benchmark) as lowest_reward,
        max(max_reward) over (partition by benchmark) as highest_reward,
        coalesce(n_attempts, 0) as n_attempts,
        coalesce(n_not_passed, 0) as n_not_passed,
        n_passed, n_failed, n_unscored,
        coalesce(attempts.n_failed_attempts, 0) as n_failed_attempts,
        coalesce(attempts.n_missing, 0) as n_missing
    from run_metrics
    left join attempts using (run_id)
    left join failing using (run_id)
    order by benchmark, run_id
"""
# Over all runs ($1 is null), or of one; parts of a mode follow it.
MODES = """
    select
        benchmark, mode, parent, kind, reason, rank, n_failures, n_failures_observed, n_passes,
        n_passes_observed, share_of_failures, share_of_passes, n_tasks, n_primary, p_adjusted,
        look_at, members, top_tasks, failing_citations, passing_citation
    from failure_modes
    where
        run_id is not distinct from $1
        and n_failures > 0
        and (is_told or parent is not null or reason = 'none')
    order by benchmark, rank nulls last, parent nulls first, n_failures desc, mode
"""
BY_RUN = """
    select
        benchmark, mode, run_id, n_failures, n_failures_observed, n_passes, n_passes_observed
    from failure_modes
    where run_id is not null and parent is null
    order by benchmark, mode, run_id
"""
CONCENTRATIONS = """
    select
        benchmark, mode, slice_key, slice_value, n_failures, n_mode_failures, n_attempts,
        n_all_attempts, share, lift, p_adjusted
    from report.concentrations
    order by benchmark, mode
"""
EXPECTED_TOOLS = "from report.expected_tools order by benchmark, rank"
LINES = """
    select benchmark, run_id, citation, notes
    from report.failure_lines
    where $1 is null or run_id = $1
    order by benchmark, place
"""
LOOKED = "from report.looked order by benchmark"
# What is often suspected: how many attempts show it, and of how many it is known.
SUSPECTED = {
    "attempts at a token limit": ("n_at_limit", "n_limit_known"),
    "empty answers": ("n_empty", "n_observed"),
    "ungraded attempts": ("n_ungraded", "n_attempts"),
}
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
CAUSES = """
    select
        run_id, cause, source,
        count(*) as n_tasks,
        min(run_id || '/' || task_id) as example
    from root_causes
    group by all
    order by run_id, n_tasks desc, cause, source
"""


def ranked_failures(warehouse: Warehouse, name: str | None, limit: int | None) -> list[Row]:
    """How the runs of each benchmark fail, or how one run does.

    Modes in their order with the passes that bear them, expected beside actual, examples with what
    their records say, and what was looked at.
    """
    chosen = None if name is None else find_run(warehouse, name)
    run_id = None if chosen is None else chosen["run_id"]
    errors = grouped(warehouse.rows(ERRORS, limit or MOST_ERRORS), "run_id")
    causes = grouped(warehouse.rows(CAUSES), "run_id")
    runs = grouped(warehouse.rows(RUNS), "benchmark")
    modes = grouped(warehouse.rows(MODES, run_id), "benchmark")
    by_run = grouped(warehouse.rows(BY_RUN), "benchmark")
    concentrations = grouped(warehouse.rows(CONCENTRATIONS), "benchmark")
    tools = grouped(warehouse.rows(EXPECTED_TOOLS), "benchmark")
    lines = grouped(warehouse.rows(LINES, run_id), "benchmark")
    looked = {row.pop("benchmark"): row for row in warehouse.rows(LOOKED)}
    listed = []
    for benchmark, all_runs in runs.items():
        if chosen is not None and chosen["benchmark"] != benchmark:
            continue
        own = [run for run in all_runs if run_id in (None, run["run_id"])]
        for run in own:
            run["error_signatures"] = errors[run["run_id"]]
            run["root_causes"] = causes[run["run_id"]]
        # Slices are counted over all runs.
        is_whole = len(own) == len(all_runs)
        whole = _modes(
            modes[benchmark],
            by_run[benchmark] if len(own) > 1 else [],
            concentrations[benchmark] if is_whole else [],
        )
        told = [mode for mode in whole if mode["reason"] != "none"]
        seen = looked.get(benchmark)
        listed.append(
            {
                "benchmark": benchmark,
                "run_id": run_id,
                "runs": own,
                "n_modes": len(told),
                "modes": told[:limit],
                "no_shared_sign": next((mode for mode in whole if mode["reason"] == "none"), None),
                "expected_tools": tools[benchmark][:limit],
                "n_expected_tools": len(tools[benchmark]),
                "failure_lines": lines[benchmark],
                "looked_at": seen,
                "not_found": _absent(seen, told) if seen else [],
            }
        )
    return listed


def _modes(modes: list[Row], by_run: list[Row], concentrations: list[Row]) -> list[Row]:
    """Each mode with its parts, its counts in each run and the slice that holds most of it."""
    parts = grouped((dict(mode) for mode in modes if mode["parent"] is not None), "parent")
    runs = grouped(by_run, "mode")
    slices = {row.pop("mode"): row for row in concentrations}
    return [
        {
            **{name: value for name, value in mode.items() if name != "parent"},
            "parts": parts[mode["mode"]],
            "runs": runs[mode["mode"]],
            "concentration": slices.get(mode["mode"]),
        }
        for mode in modes
        if mode["parent"] is None
    ]


def _absent(looked: Row, modes: list[Row]) -> list[Row]:
    """What no attempt shows, of what was recorded; not where attempts have no row."""
    is_ungraded = any(mode["reason"] == "ungraded" for mode in modes)
    return [
        {"what": what, "n_observed": looked[observed]}
        for what, (n_shown, observed) in SUSPECTED.items()
        if looked[observed]
        and not looked[n_shown]
        and not (is_ungraded and what == "ungraded attempts")
    ]


def checked_health(warehouse: Warehouse, name: str | None) -> Row:
    """How healthy all runs are, or one, and what the checks found there."""
    chosen = None if name is None else find_run(warehouse, name)["run_id"]
    runs, checks = (
        [row for row in warehouse.rows(query) if chosen in (None, row["run_id"])]
        for query in (HEALTH.select, "from report.health_checks")
    )
    return {"runs": runs, "checks": checks}
