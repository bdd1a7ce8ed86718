-- The numbers that rows give under the names of reported fields, by where in the row they stand.
-- grain: run_id, shard, field, record_id, source
with

fields as (

    select distinct
        run_id,
        shard,
        field

    from staging.reported_figures

    where field is not null

),

entries as (

    select
        run_id,
        shard,
        record_id,
        'usage' as source,
        unnest(map_entries(json_fields(usage))) as entry

    from staging.reported_rows

    where role = 'rollout'

    union all

    select
        run_id,
        shard,
        record_id,
        'verifier' as source,
        unnest(map_entries(json_fields(verifier))) as entry

    from staging.reported_rows

    where role = 'rollout'

),

final as (

    select
        entries.run_id,
        entries.shard,
        fields.field,
        entries.record_id,
        entries.source,
        json_as_measure(entries.entry.value) as value

    from entries

    inner join fields
        on fields.run_id = entries.run_id
        and fields.shard = entries.shard
        and fields.field = entries.entry.key

    union all

    select
        rows_read.run_id,
        rows_read.shard,
        fields.field,
        rows_read.record_id,
        'format' as source,
        case fields.field
            when 'reward' then rows_read.reward
            when 'mask_sample' then json_as_measure(rows_read.mask_sample)
        end as value

    from staging.reported_rows as rows_read

    inner join fields using (run_id, shard)

    where fields.field in ('reward', 'mask_sample') and rows_read.role = 'rollout'

)

select * from final
