-- Figures the run reported of itself, to be checked against ours; task_id is null for a whole run.
-- grain: run_id, agent, task_id, metric, source_file
-- kind: table
with

figures as (

    select
        files.path as source_file,
        files.kind as source_kind,
        files.run_name,
        files.chunk,
        figures.*

    from raw.figures as figures

    inner join raw.files as files using (file_no)

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
        figures.*

    from figures

    inner join run_keys
        on run_keys.run_name = figures.run_name
        and (run_keys.is_only or run_keys.agent_key = coalesce(figures.agent, ''))

),

-- The older form gives no index: its rows ascend by it.
task_positions as (

    select
        run_id,
        task_id,
        row_number() over (partition by run_id order by task_no) - 1 as position

    from (

        select distinct
            run_id,
            task_id,
            try_cast(task_id as bigint) as task_no

        from staging.keys

        where role in ('rollout', 'input')

    ) as tasks

),

rekeyed as (

    select distinct run_id

    from staging.shard_tasks

    where is_rekeyed

),

final as (

    select
        matched.run_id,
        matched.agent,
        case
            when matched.task is not null and rekeyed.run_id is not null and matched.chunk is not null
                then 'chunk' || matched.chunk || '-' || matched.task
            else coalesce(matched.task, task_positions.task_id)
        end as task_id,
        matched.metric,
        matched.value,
        matched.source_kind,
        matched.source_file

    from matched

    left join task_positions
        on matched.task is null
        and task_positions.run_id = matched.run_id
        and task_positions.position = matched.position

    left join rekeyed
        on rekeyed.run_id = matched.run_id

)

select * from final
