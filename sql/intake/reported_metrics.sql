-- Figures the run reported of itself, to be checked against ours; task_id is null for a whole run.
-- grain: run_id, agent, task_id, metric, source_file
-- looks at: run
with run_keys as (
    select
        *,
        count(*) over (partition by run_name) = 1 as is_only
    from staging.run_keys
),
figures as (
    select
        run_keys.run_id,
        figures.*,
        files.path as source_file,
        files.kind as source_kind,
        files.seed,
        files.chunk,
        -- The place among the rows of this run: a file may hold the rows of several agents.
        dense_rank() over (
            partition by run_keys.run_id, files.path order by figures.position nulls last
        ) - 1 as place
    from raw.figures
    inner join raw.files using (file_no)
    inner join run_keys
        on run_keys.run_name = files.run_name
        and case
            when figures.variant is not null then run_keys.part = bounded_name(figures.variant)
            else run_keys.is_only or run_keys.agent_key = coalesce(bounded_name(figures.agent), '')
        end
),
-- A task that was asked and has no rollout has no row in a profile.
tasks as (
    select distinct
        keys.run_id,
        records.seed,
        records.chunk,
        keys.task_id,
        try_cast(regexp_extract(keys.task_id, '^(chunk[0-9]+-)?([0-9]+)$', 2) as bigint) as task_no
    from staging.recorded_keys as keys
    semi join (from figures where task is null and position is not null) as unnamed using (run_id)
    inner join staging.records using (record_id)
    where keys.role in ('rollout', 'input')
    qualify keys.role = max(keys.role) over (partition by keys.run_id)
),
-- The tasks of each run or shard by their place: profiles of the older form name them by no other.
places as (
    select
        *,
        row_number() over (partition by run_id, seed, chunk order by task_no, task_id) - 1 as place
    from tasks
),
recorded as (
    select
        figures.run_id,
        bounded_name(figures.agent) as agent,
        bounded_name(case
            when
                figures.task is not null
                and figures.chunk is not null
                and figures.run_id in (select keys.run_id from staging.recorded_keys as keys where keys.is_rekeyed)
                then 'chunk' || figures.chunk || '-' || figures.task
            -- A row beyond the tasks we know is still none of the whole run.
            when figures.position is not null
                then coalesce(figures.task, places.task_id, '#' || figures.place)
        end) as task_id,
        bounded_name(figures.metric) as metric,
        figures.value,
        figures.source_kind,
        figures.source_file
    from figures
    -- The older form gives no index: its rows ascend by it.
    left join places
        on figures.task is null
        and places.run_id = figures.run_id
        and places.seed is not distinct from figures.seed
        and places.chunk is not distinct from figures.chunk
        and places.place = figures.place
)
select recorded.* replace (coalesce(paired.task_id, recorded.task_id) as task_id)
from recorded
left join main.paired_tasks as paired
    on paired.run_id = recorded.run_id
    and paired.recorded_task_id = recorded.task_id
order by run_id, agent, task_id, metric, source_file
