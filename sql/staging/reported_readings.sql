-- The rows meant by a field such as `reward_output_JSON`: the reward where `output_type` is JSON.
-- grain: run_id, shard, field, base_field, slice_field, slice_value, record_id
-- kind: table
with

bases as (

    select distinct
        run_id,
        shard,
        field

    from staging.reported_numbers

),

-- A field that no row has may be one that they have, and a group of the rows.
named as (

    select distinct
        figures.run_id,
        figures.shard,
        figures.field,
        bases.field as base_field,
        substring(figures.field, length(bases.field) + 2) as remainder

    from staging.reported_figures as figures

    inner join bases
        on bases.run_id = figures.run_id
        and bases.shard = figures.shard
        and starts_with(figures.field, bases.field || '_')

    left join bases as own
        on own.run_id = figures.run_id
        and own.shard = figures.shard
        and own.field = figures.field

    where figures.kind = 'statistic' and figures.task_id is null and own.field is null

),

entries as (

    select
        run_id,
        shard,
        record_id,
        unnest(map_entries(json_fields(verifier))) as entry

    from staging.reported_rows

    where run_id in (select run_id from named) and role = 'rollout'

),

texts as (

    select
        run_id,
        shard,
        record_id,
        entry.key as slice_field,
        json_as_text(entry.value) as slice_value

    from entries

    where left(entry.value, 1) = '"' and length(entry.value) between 3 and 100

),

final as (

    select
        named.run_id,
        named.shard,
        named.field,
        named.base_field,
        texts.slice_field,
        texts.slice_value,
        texts.record_id

    from named

    inner join texts using (run_id, shard)

    -- `output_JSON` is JSON in a field that begins with `output_`.
    where named.remainder = texts.slice_value
        or (
            right(named.remainder, length(texts.slice_value) + 1) = '_' || texts.slice_value
            and starts_with(
                texts.slice_field,
                left(named.remainder, length(named.remainder) - length(texts.slice_value))
            )
        )

)

select * from final
