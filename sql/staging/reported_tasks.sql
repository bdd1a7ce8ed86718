-- The tasks of each run or shard by their place: profiles of the older form name them by no other.
-- grain: run_id, seed, chunk, position
with

keys as (

    select * from staging.keys where role in ('rollout', 'input')

),

records as (

    select * from staging.records

),

profiled as (

    select distinct run_keys.run_id

    from staging.run_keys as run_keys

    inner join raw.files as files using (run_name)

    inner join raw.figures as figures using (file_no)

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

    inner join records using (record_id)

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

final as (

    select
        run_id,
        seed,
        chunk,
        task_id,
        row_number() over (partition by run_id, seed, chunk order by task_no, task_id) - 1
            as position

    from tasks

)

select * from final
