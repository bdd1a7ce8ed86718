-- Our own mean of each field that names a group of rows; null where its readings disagree.
-- grain: run_id, shard, field
-- kind: table
with

readings as (

    select * from staging.reported_readings

),

numbers as (

    select * from staging.reported_numbers

),

means as (

    select
        readings.run_id,
        readings.shard,
        readings.field,
        readings.base_field,
        readings.slice_field,
        mean_of(ascending(numbers.value)) as mean

    from readings

    inner join numbers
        on numbers.run_id = readings.run_id
        and numbers.shard = readings.shard
        and numbers.field = readings.base_field
        and numbers.record_id = readings.record_id

    group by
        readings.run_id,
        readings.shard,
        readings.field,
        readings.base_field,
        readings.slice_field

),

final as (

    select
        run_id,
        shard,
        field,
        count(*) as n_readings,
        case when min(mean) = max(mean) then min(mean) end as mean

    from means

    group by all

)

select * from final
