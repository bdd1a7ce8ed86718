-- The figures of each slice of a run's tasks: counts, buckets, pass@1 and its interval.
-- grain: run_id, slice_key, slice_value
-- kind: table
with outcomes as (
    select
        outcomes.*,
        task_slices.name as slice_key,
        task_slices.value as slice_value
    from main.task_outcomes as outcomes
    inner join staging.task_slices using (benchmark, task_id)
),
counted as (
    select
        run_id,
        slice_key,
        slice_value,
        count(*) as n_tasks,
        count(*) filter (where n_scored > 0) as n_scored_tasks,
        cast(sum(n_rollouts) as bigint) as n_rollouts,
        cast(sum(n_scored) as bigint) as n_scored,
        cast(sum(n_passed) as bigint) as n_passed,
        count(*) filter (where bucket = 'always') as n_always,
        count(*) filter (where bucket = 'sometimes') as n_sometimes,
        count(*) filter (where bucket = 'never') as n_never,
        count(*) filter (where bucket = 'missing') as n_missing
    from outcomes
    group by all
),
estimates as (
    select *
    from staging.estimates
    inner join staging.intervals using (run_id, slice_key, slice_value, metric, k)
    where slice_key <> ''
)
select
    counted.run_id,
    counted.slice_key,
    counted.slice_value,
    counted.n_tasks,
    counted.n_scored_tasks,
    counted.n_rollouts,
    counted.n_scored,
    counted.n_passed,
    pass_at_1.value as pass_at_1,
    pass_at_1.se_new_tasks,
    pass_at_1.ci_new_tasks_low,
    pass_at_1.ci_new_tasks_high,
    reward.value as mean_reward,
    case when runs.pass_threshold is not null then counted.n_always end as n_always,
    case when runs.pass_threshold is not null then counted.n_sometimes end as n_sometimes,
    case when runs.pass_threshold is not null then counted.n_never end as n_never,
    counted.n_missing
from counted
inner join main.runs using (run_id)
left join estimates as pass_at_1
    on pass_at_1.run_id = counted.run_id
    and pass_at_1.slice_key = counted.slice_key
    and pass_at_1.slice_value = counted.slice_value
    and pass_at_1.metric = 'pass_at'
left join estimates as reward
    on reward.run_id = counted.run_id
    and reward.slice_key = counted.slice_key
    and reward.slice_value = counted.slice_value
    and reward.metric = 'mean_reward'
