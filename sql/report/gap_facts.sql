-- How much of each run lacks each thing that a report would read.
-- grain: run_id, gap
with recorded as (
    select
        run_id,
        count(*) filter (where model is null) as n_model,
        count(*) filter (where input_tokens is null and output_tokens is null) as n_tokens,
        count(*) filter (where duration_s is null) as n_durations,
        count(*) filter (where coalesce(n_events, 0) = 0) as n_events,
        count(*) filter (where coalesce(verifier::varchar, '{}') = '{}') as n_verifier,
        count(*) filter (
            where coalesce(is_redacted(final_text), false) or coalesce(is_redacted(verifier::varchar), false)
        ) as n_redacted
    from main.rollouts
    group by all
),
-- A few patterns of what cannot be checked stand for a million rollouts.
patterns as (
    select
        run_id,
        unobserved_checks,
        count(*) as n_rollouts
    from main.rollout_health
    where length(unobserved_checks) > 0
    group by all
),
unobserved as (
    select
        run_id,
        cast(sum(n_rollouts) as bigint) as n_rollouts,
        length(list_distinct(flatten(list(unobserved_checks)))) as n_checks
    from patterns
    group by all
),
causes as (
    select
        run_id,
        count(*) as n_tasks,
        count(*) filter (where not is_suggested) as n_curated
    from main.root_causes
    group by all
),
-- Of files that are read row by row, and of any other that could not be read.
lines as (
    select
        run_id,
        cast(sum(n_rejects) as bigint) as n_rejects,
        cast(sum(n_lines) as bigint) as n_lines
    from report.run_inventory
    where kind in ('rollouts', 'inputs', 'failures') or n_rejects > 0
    group by all
),
lacking as (
    select
        heads.run_id,
        unnest([
            lack_of('expected', case when heads.is_expected_unknown then heads.n_rollouts end, heads.n_rollouts),
            lack_of('failures', heads.n_missing, heads.n_expected),
            lack_of('repeats', case when heads.is_single_repeat then heads.n_scored_tasks end, heads.n_scored_tasks),
            lack_of('model', recorded.n_model, heads.n_rollouts),
            lack_of('tokens', recorded.n_tokens, heads.n_rollouts),
            lack_of('durations', recorded.n_durations, heads.n_rollouts),
            lack_of('events', recorded.n_events, heads.n_rollouts),
            lack_of('trajectory', unobserved.n_rollouts, heads.n_rollouts),
            lack_of('slices', case when slices.run_id is null then heads.n_tasks end, heads.n_tasks),
            lack_of('verifier', recorded.n_verifier, heads.n_rollouts),
            lack_of('scores', heads.n_unscored, heads.n_rollouts),
            lack_of('settled', case when heads.is_unsettled then heads.n_scored end, heads.n_scored),
            lack_of('rewards', constant.n_rollouts, heads.n_scored),
            lack_of('labels', case when causes.n_curated = 0 then causes.n_tasks end, causes.n_tasks),
            lack_of('redacted', recorded.n_redacted, heads.n_rollouts),
            lack_of('rejects', lines.n_rejects, lines.n_lines)
        ], recursive := true),
        unobserved.n_checks
    from report.headlines as heads
    left join recorded using (run_id)
    left join unobserved using (run_id)
    left join causes using (run_id)
    left join staging.constant_rewards as constant using (run_id)
    left join (select distinct run_id from main.slice_metrics) as slices using (run_id)
    left join lines using (run_id)
)
select
    run_id,
    gap,
    cast(n_rows as bigint) as n_rows,
    cast(n_of as bigint) as n_of,
    case when gap = 'trajectory' then n_checks end as n_checks
from lacking
where n_rows > 0
