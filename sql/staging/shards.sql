-- How far each shard's repeat numbers must move so that the shards of a run do not collide.
-- grain: run_id, seed, chunk
with

sharded as (

    select
        records.run_id,
        records.seed,
        records.chunk,
        records.role,
        records.rollout_index,
        tasks.task_id,
        tasks.is_rekeyed

    from staging.run_records as records

    inner join staging.shard_tasks as tasks using (record_id)

    where records.seed is not null or records.chunk is not null

),

-- Only where one task stands in several chunks of a seed do chunks repeat it; else seeds do.
repeating_chunks as (

    select distinct run_id

    from sharded

    where not is_rekeyed

    group by run_id, seed, task_id, role, rollout_index

    having count(distinct chunk) > 1

),

records as (

    select
        sharded.run_id,
        sharded.seed,
        sharded.chunk,
        sharded.role,
        sharded.rollout_index,
        sharded.task_id,
        case when repeating_chunks.run_id is null then -1 else coalesce(sharded.chunk, -1) end
            as repeat_chunk

    from sharded

    left join repeating_chunks using (run_id)

),

shards as (

    select
        run_id,
        coalesce(seed, -1) as repeat_seed,
        repeat_chunk,
        1 + coalesce(max(rollout_index), -1) as width

    from records

    group by all

),

placed as (

    select
        *,
        sum(width) over (
            partition by run_id
            order by repeat_seed, repeat_chunk
            rows between unbounded preceding and 1 preceding
        ) as width_before

    from shards

),

colliding as (

    select distinct run_id

    from records

    group by run_id, task_id, role, rollout_index

    having count(distinct concat_ws('/', seed, repeat_chunk)) > 1

),

members as (

    select distinct
        run_id,
        seed,
        chunk,
        coalesce(seed, -1) as repeat_seed,
        repeat_chunk

    from records

),

final as (

    select
        members.run_id,
        members.seed,
        members.chunk,
        case
            when colliding.run_id is null then 0
            else cast(coalesce(placed.width_before, 0) as bigint)
        end as index_offset

    from members

    inner join placed using (run_id, repeat_seed, repeat_chunk)

    left join colliding using (run_id)

)

select * from final
