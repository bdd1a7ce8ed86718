-- Our own mean, extremes, median and deviation of each reported field, by run or shard and by task.
-- grain: run_id, shard, task_id, field
-- kind: table
with

numbers as (

    select * from staging.reported_numbers

),

wanted as (

    select distinct
        run_id,
        shard,
        field,
        task_id is null as is_whole

    from staging.reported_figures

    where kind = 'statistic'

),

scoped as (

    select
        numbers.run_id,
        numbers.shard,
        case when not wanted.is_whole then numbers.task_id end as task_id,
        numbers.field,
        numbers.value

    from numbers

    inner join wanted using (run_id, shard, field)

),

grouped as (

    select
        run_id,
        shard,
        task_id,
        field,
        count(*) as n_numbers,
        max(value) as highest,
        min(value) as lowest,
        ascending(value) as sorted

    from scoped

    group by run_id, shard, task_id, field

),

final as (

    select
        run_id,
        shard,
        task_id,
        field,
        n_numbers,
        mean_of(sorted) as mean,
        highest as max,
        lowest as min,
        median_of(sorted) as median,
        deviation_of(sorted) as std

    from grouped

)

select * from final
