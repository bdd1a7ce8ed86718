-- Series of checkpoints: three or more runs that differ by their step, in order.
-- grain: series, run_id
-- looks at: across
with checkpoints as (
    select
        *,
        coalesce(nullif(trim(safe_name(stem), '-_.'), ''), 'series') as wanted
    from staging.run_order
    where is_checkpoint
),
-- Two runs of one step have no order.
named as (
    select
        benchmark,
        stem,
        case
            when row_number() over (partition by lower(wanted) order by benchmark, stem) = 1
                then wanted
            else wanted || '-' || left(md5(benchmark || '/' || stem), 6)
        end as series
    from checkpoints
    group by benchmark, stem, wanted
    having count(*) >= 3 and count(distinct step) = count(*)
)
select
    named.series,
    checkpoints.benchmark,
    checkpoints.run_id,
    row_number() over (partition by named.series order by checkpoints.step) as place,
    checkpoints.step
from checkpoints
inner join named using (benchmark, stem)
