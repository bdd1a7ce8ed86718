-- Which tasks belong together, where the profile names the field that says so.
-- grain: benchmark, task_id
with settings as (
    select * from raw.settings where group_path is not null
),
named as (
    select
        run_benchmarks.benchmark,
        keys.task_id,
        min(json_as_text(
            row_field(records.verifier, records.reward_components, settings.group_path)
        )) as task_group
    from staging.keys
    inner join staging.run_benchmarks using (run_id)
    inner join staging.records using (record_id)
    cross join settings
    where keys.rank = 1 and keys.role in ('rollout', 'input')
    group by run_benchmarks.benchmark, keys.task_id
)
-- A task that names no group is a group of its own.
select
    benchmark,
    task_id,
    coalesce(task_group, chr(31) || task_id) as task_group
from named
