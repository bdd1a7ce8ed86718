-- The numbers that reported figures are made of, from every row that has one; true is 1, false 0.
-- grain: run_id, shard, field, record_id
-- kind: table
with

entries as (

    select * from staging.reported_entries where value is not null

),

-- A name that stands in several places means the first: the format's own, then usage.
sources as (

    select
        run_id,
        shard,
        field,
        min(source) as source

    from entries

    group by all

),

final as (

    select
        entries.run_id,
        entries.shard,
        entries.field,
        entries.record_id,
        keys.task_id,
        keys.rollout_index,
        entries.value

    from entries

    inner join sources using (run_id, shard, field, source)

    inner join staging.rollout_keys as keys using (run_id, record_id)

)

select * from final
