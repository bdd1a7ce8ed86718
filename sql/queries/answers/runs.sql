-- runs: one row per run: what became of its attempts
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
    select
        run_id,
        count(*) as n_not_passed
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
    n_passed,
    n_failed,
    n_unscored,
    coalesce(attempts.n_failed_attempts, 0) as n_failed_attempts,
    coalesce(attempts.n_missing, 0) as n_missing
from run_metrics
left join attempts using (run_id)
left join failing using (run_id)
order by benchmark, run_id;

-- modes: failure modes over all runs ($1 is null) or of one; parts of a mode follow it
select
    benchmark,
    mode,
    parent,
    kind,
    reason,
    rank,
    n_failures,
    n_failures_observed,
    n_passes,
    n_passes_observed,
    share_of_failures,
    share_of_passes,
    has_grades,
    n_tasks,
    n_primary,
    p_adjusted,
    look_at,
    members,
    top_tasks,
    failing_citations,
    passing_citation
from failure_modes
where
    run_id is not distinct from $1
    and n_failures > 0
    and (is_told or parent is not null or reason = 'none')
order by benchmark, rank nulls last, parent nulls first, n_failures desc, mode;

-- modes_by_run: how often each failure mode occurs in each run
select
    benchmark,
    mode,
    run_id,
    n_failures,
    n_failures_observed,
    n_passes,
    n_passes_observed
from failure_modes
where run_id is not null and parent is null
order by benchmark, mode, run_id;

-- failure_lines: single failures and what their records state
select
    benchmark,
    run_id,
    citation,
    notes
from report.failure_lines
where $1 is null or run_id = $1
order by benchmark, place;

-- errors: the most frequent error messages of each run
select
    run_id,
    source,
    signature,
    n_events,
    n_rollouts,
    case when pass_threshold is not null then n_failed end as n_failed,
    n_tasks,
    example
from error_signatures
inner join (select run_id, pass_threshold from runs) using (run_id)
qualify row_number() over (
    partition by run_id order by n_rollouts desc, n_events desc, source, signature
) <= ?
order by run_id, n_rollouts desc, n_events desc, source, signature;

-- causes: how many tasks of each run have each root cause
select
    run_id,
    cause,
    source,
    count(*) as n_tasks,
    min(run_id || '/' || task_id) as example
from root_causes
group by all
order by run_id, n_tasks desc, cause, source;

-- small: pairs of fewer than ? common tasks that show nothing, and all others
select
    count(*) filter (n_common_tasks < $1 and not is_changed) as n_small,
    count(*) - n_small as n_others
from comparisons
where is_lead;

-- compared: of at least $1 common tasks, at most $2 comparisons, and all that have become worse; `unlike` are settings that give other rewards
select
    comparisons.*,
    coalesce(graded.unlike, []) as unlike
from comparisons
left join (
    select
        base,
        candidate,
        list(setting order by setting) as unlike
    from comparison_settings
    where gives_rewards and unrecorded_by is null and base_value is distinct from candidate_value
    group by all
) as graded using (base, candidate)
where is_lead and delta is not null and (n_common_tasks >= $1 or is_changed)
qualify
    row_number() over (
        order by not is_named, not is_changed, n_common_tasks desc, benchmark, pair_no
    ) <= $2
    or verdict_holm = 'regressed'
order by not is_named, not is_changed, n_common_tasks desc, benchmark, pair_no;

-- inventory: what was read, by kind of file
select
    kind,
    n_files,
    n_bytes,
    n_lines,
    n_rows,
    n_rejects,
    n_other,
    n_blank
from report.inventory
where benchmark = '' and run_id = '';
