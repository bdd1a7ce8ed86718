-- The key of every row: run, task and repeat; and of rows that share one, which one counts.
-- grain: record_id
-- kind: table
with sharded as (
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
shards_records as (
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
    from shards_records as records
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
    from shards_records as records
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
    from shards_records as records
),
-- How far each shard's repeat numbers must move so that the shards of a run do not collide.
all_shards as (
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
),
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
    left join all_shards as shards
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
)
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
