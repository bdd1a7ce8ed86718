-- The key of every row: run, task and repeat; and of rows that share one, which one counts.
-- grain: record_id
-- kind: table
with

records as (

    select
        records.record_id,
        records.run_id,
        tasks.task_id,
        records.role,
        records.rollout_index + coalesce(shards.index_offset, 0) as rollout_index,
        records.attempt_index,
        records.content_hash,
        records.source_file,
        records.source_line

    from staging.run_records as records

    inner join staging.shard_tasks as tasks using (record_id)

    left join staging.shards as shards
        on shards.run_id = records.run_id
        and shards.seed is not distinct from records.seed
        and shards.chunk is not distinct from records.chunk

),

given as (

    select
        record_id,
        run_id,
        task_id,
        role,
        rollout_index,
        attempt_index,
        source_file,
        source_line

    from records

    where rollout_index is not null

),

last_given as (

    select
        run_id,
        task_id,
        role,
        max(rollout_index) as rollout_index

    from given

    group by all

),

-- Rows without a repeat number are ranked by what they say, so that their order does not matter.
ranked as (

    select
        records.record_id,
        records.run_id,
        records.task_id,
        records.role,
        coalesce(last_given.rollout_index, -1) + row_number() over (
            partition by records.run_id, records.task_id, records.role
            order by records.content_hash, records.source_file, records.source_line
        ) as rollout_index,
        records.attempt_index,
        records.source_file,
        records.source_line

    from records

    left join last_given using (run_id, task_id, role)

    where records.rollout_index is null

),

keyed as (

    select * from given

    union all

    select * from ranked

),

final as (

    select
        record_id,
        run_id,
        task_id,
        role,
        rollout_index,
        attempt_index,
        row_number() over same_key as rank,
        first_value(source_file || ':' || source_line) over same_key as winner

    from keyed

    window same_key as (
        partition by role, run_id, task_id, rollout_index
        order by attempt_index desc nulls last, source_file, source_line
    )

)

select * from final
