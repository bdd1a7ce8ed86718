-- What each run was asked to do, from its input rows.
-- grain: run_id, task_id, rollout_index
with

keys as (

    select
        keys.run_id,
        keys.task_id,
        keys.rollout_index,
        keys.role,
        keys.rank,
        records.file_kind

    from staging.keys as keys

    inner join staging.records as records using (record_id)

),

-- Input rows merged into a rollout file are what is left to do; the rows beside them were done.
merged_only as (

    select run_id

    from keys

    where role = 'input'

    group by run_id

    having count(*) filter (where file_kind = 'inputs') = 0

),

final as (

    select
        run_id,
        task_id,
        rollout_index

    from keys

    where role = 'input' and rank = 1

    union

    select
        keys.run_id,
        keys.task_id,
        keys.rollout_index

    from keys

    inner join merged_only using (run_id)

    where keys.role in ('rollout', 'failure')

)

select * from final
