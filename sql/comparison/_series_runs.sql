-- Series of checkpoints: three or more runs that differ by their step, in order.
-- grain: series, run_id
-- kind: table
with checkpoints as (
    select
        *,
        coalesce(nullif(trim(safe_name(stem), '-_.'), ''), 'series') as wanted
    from staging.run_order
    where is_checkpoint
),
-- Two runs of one step have no order.
grouped as (
    select benchmark, stem, wanted
    from checkpoints
    group by all
    having count(*) >= 3 and count(distinct step) = count(*)
),
numbered as (
    select
        *,
        row_number() over (partition by lower(wanted) order by benchmark, stem) as number
    from grouped
),
named as (
    select
        benchmark,
        stem,
        case when number = 1 then wanted else wanted || '-' || left(md5(benchmark || '/' || stem), 6) end
            as series
    from numbered
)
select
    named.series,
    checkpoints.benchmark,
    checkpoints.run_id,
    row_number() over (partition by named.series order by checkpoints.step) as place,
    checkpoints.step
from checkpoints
inner join named using (benchmark, stem)
