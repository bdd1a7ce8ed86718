-- The mean of each component a reward is made of, over tasks, and apart for pass and fail.
-- grain: run_id, component
with
-- Most rows have none, and reading JSON is what costs.
entries as (
    select
        rollouts.run_id,
        rollouts.task_id,
        rollouts.is_pass,
        unnest(map_entries(json_fields(records.reward_components))) as entry
    from staging.rollouts
    inner join staging.records using (record_id)
    where records.reward_components is not null
),
numbers as materialized (
    select
        * exclude (entry),
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
)
select
    run_id,
    component,
    tasks.n_tasks,
    count(*) as n_rollouts,
    tasks.mean_value,
    min(value) as min_value,
    max(value) as max_value,
    sorted_sum(case when is_pass then value end) / nullif(count(*) filter (is_pass), 0)
        as mean_when_passed,
    sorted_sum(case when not is_pass then value end) / nullif(count(*) filter (not is_pass), 0)
        as mean_when_failed
from numbers
inner join tasks using (run_id, component)
group by all
order by run_id, component
