-- Scored tasks, once for the whole run (an empty slice) and once for each slice they are in.
-- grain: run_id, slice_key, slice_value, task_id
with outcomes as (
    select * from main.task_outcomes where n_scored > 0
),
sliced as (
    select
        run_id,
        task_id,
        '' as slice_key,
        '' as slice_value
    from outcomes
    union all
    select
        outcomes.run_id,
        outcomes.task_id,
        task_slices.name as slice_key,
        task_slices.value as slice_value
    from outcomes
    inner join staging.task_slices using (benchmark, task_id)
)
select
    sliced.run_id,
    sliced.slice_key,
    sliced.slice_value,
    sliced.task_id,
    groups.task_group,
    outcomes.n_scored,
    outcomes.n_passed,
    outcomes.mean_reward,
    outcomes.max_reward,
    outcomes.min_reward,
    outcomes.reward_std
from sliced
inner join outcomes using (run_id, task_id)
left join staging.task_groups as groups using (benchmark, task_id)
