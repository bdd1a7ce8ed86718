-- Figures the run reported of itself, to be checked against ours; task_id is null for a whole run.
-- grain: run_id, agent, task_id, metric, source_file
-- kind: table
with figures as (
    select
        files.path as source_file,
        files.kind as source_kind,
        files.run_name,
        files.seed,
        files.chunk,
        figures.*
    from raw.figures
    inner join raw.files using (file_no)
),
run_keys as (
    select
        *,
        count(*) over (partition by run_name) = 1 as is_only
    from staging.run_keys
),
matched as (
    select
        run_keys.run_id,
        figures.*,
        -- The place among the rows of this run: a file may hold the rows of several agents.
        dense_rank() over (
            partition by run_keys.run_id, figures.source_file
            order by figures.position nulls last
        ) - 1 as place
    from figures
    inner join run_keys
        on run_keys.run_name = figures.run_name
        and (run_keys.is_only or run_keys.agent_key = coalesce(figures.agent, ''))
),
rekeyed as (
    select distinct run_id
    from staging.shard_tasks
    where is_rekeyed
),
keys as (
    select * from staging.keys where role in ('rollout', 'input')
),
profiled as (
    select distinct run_keys.run_id
    from staging.run_keys
    inner join raw.files using (run_name)
    inner join raw.figures using (file_no)
    where figures.task is null and figures.position is not null
),
-- A task that was asked and has no rollout has no row in a profile.
placed as (
    select
        keys.run_id,
        records.seed,
        records.chunk,
        keys.task_id,
        keys.role,
        max(keys.role) over (partition by keys.run_id) as best_role
    from keys
    inner join staging.records using (record_id)
    inner join profiled using (run_id)
),
tasks as (
    select distinct
        run_id,
        seed,
        chunk,
        task_id,
        try_cast(regexp_extract(task_id, '^(chunk[0-9]+-)?([0-9]+)$', 2) as bigint) as task_no
    from placed
    where role = best_role
),
-- The tasks of each run or shard by their place: profiles of the older form name them by no other.
reported_tasks as (
    select
        run_id,
        seed,
        chunk,
        task_id,
        row_number() over (partition by run_id, seed, chunk order by task_no, task_id) - 1
            as position
    from tasks
)
select
    matched.run_id,
    matched.agent,
    case
        when matched.task is not null and rekeyed.run_id is not null and matched.chunk is not null
            then 'chunk' || matched.chunk || '-' || matched.task
        -- A row beyond the tasks we know is still none of the whole run.
        when matched.position is not null
            then coalesce(matched.task, tasks.task_id, '#' || matched.place)
    end as task_id,
    matched.metric,
    matched.value,
    matched.source_kind,
    matched.source_file
from matched
-- The older form gives no index: its rows ascend by it.
left join reported_tasks as tasks
    on matched.task is null
    and tasks.run_id = matched.run_id
    and tasks.seed is not distinct from matched.seed
    and tasks.chunk is not distinct from matched.chunk
    and tasks.position = matched.place
left join rekeyed
    on rekeyed.run_id = matched.run_id
