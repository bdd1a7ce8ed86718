-- The mean of each component a reward is made of, over tasks, and apart for pass and fail.
-- grain: run_id, component
-- kind: table
with
-- Most rows have none, and reading JSON is what costs.
rows_read as (
    select
        rollouts.run_id,
        rollouts.task_id,
        rollouts.is_pass,
        json_fields(records.reward_components) as components
    from main.rollouts
    inner join staging.records using (record_id)
    where records.reward_components is not null
),
entries as (
    select
        run_id,
        task_id,
        is_pass,
        unnest(map_entries(components)) as entry
    from rows_read
),
numbers as (
    select
        run_id,
        task_id,
        is_pass,
        bounded_name(entry.key) as component,
        json_as_number(entry.value) as value
    from entries
    where json_as_number(entry.value) is not null
),
per_task as (
    select
        run_id,
        component,
        task_id,
        sorted_sum(value) / count(*) as mean_value
    from numbers
    group by all
),
tasks as (
    select
        run_id,
        component,
        count(*) as n_tasks,
        sorted_sum(mean_value) / count(*) as mean_value
    from per_task
    group by all
),
rollouts as (
    select
        run_id,
        component,
        count(*) as n_rollouts,
        min(value) as min_value,
        max(value) as max_value,
        sorted_sum(case when is_pass then value end)
            / nullif(count(*) filter (where is_pass), 0) as mean_when_passed,
        sorted_sum(case when not is_pass then value end)
            / nullif(count(*) filter (where not is_pass), 0) as mean_when_failed
    from numbers
    group by all
)
select
    tasks.run_id,
    tasks.component,
    tasks.n_tasks,
    rollouts.n_rollouts,
    tasks.mean_value,
    rollouts.min_value,
    rollouts.max_value,
    rollouts.mean_when_passed,
    rollouts.mean_when_failed
from tasks
inner join rollouts using (run_id, component)
