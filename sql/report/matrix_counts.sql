-- How many tasks of a benchmark fared alike in all its runs.
-- grain: benchmark, bucket_across
with

several as (

    select benchmark

    from main.runs

    group by all

    having count(*) > 1

),

buckets as (

    select unnest(['always', 'sometimes', 'never', 'missing']) as bucket_across

),

counted as (

    select
        benchmark,
        bucket_across,
        count(*) as n_tasks

    from main.bucket_matrix

    group by all

),

final as (

    select
        several.benchmark,
        buckets.bucket_across,
        coalesce(counted.n_tasks, 0) as n_tasks

    from several

    cross join buckets

    left join counted using (benchmark, bucket_across)

    order by
        several.benchmark,
        case buckets.bucket_across
            when 'always' then 1 when 'sometimes' then 2 when 'never' then 3 else 4 end

)

select * from final
