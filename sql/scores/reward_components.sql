-- The mean of each score that rows record, over tasks, and apart for pass and fail.
-- Components of the reward; of other harnesses the score that is the reward, and those beside it.
-- grain: run_id, component
-- looks at: run
-- kind: table
-- needs: staging.records where reward_components is not null | staging.entries where path in ('score', 'scores') and item is not null
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
        json_as_number(entry.value) as value,
        false as is_reward
    from entries
    where json_as_number(entry.value) is not null
    union all by name
    select
        run_id,
        task_id,
        is_pass,
        bounded_name(json_field(item, 'name')) as component,
        json_field_number(item, 'score') as value,
        -- Where none is named as the score, the one that always is the reward.
        entries.path = 'score' or (
            not bool_or(entries.path = 'score' or json_field(item, 'name') = 'reward') over (partition by run_id)
            and bool_and(json_field_number(item, 'score') = reward) over (
                partition by run_id, json_field(item, 'name')
            )
        ) as is_reward
    from staging.entries
    inner join staging.rollouts using (record_id)
    inner join raw.files on files.file_no = record_id // 1099511627776
    where
        entries.path in ('score', 'scores')
        and item is not null
        and files.format is not null
        and json_field_number(item, 'score') is not null
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
    bool_or(is_reward) as is_reward,
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
