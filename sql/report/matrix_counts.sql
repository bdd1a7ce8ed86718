-- How many tasks of a benchmark fared alike in all its runs.
-- grain: benchmark, bucket_across
with

several as (

    select
        benchmark,
        count(pass_threshold) = count(*) as is_pass_known

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
        case
            when several.is_pass_known or buckets.bucket_across = 'missing'
                then coalesce(counted.n_tasks, 0)
        end as n_tasks

    from several

    cross join buckets

    left join counted using (benchmark, bucket_across)

    order by
        several.benchmark,
        case buckets.bucket_across
            when 'always' then 1 when 'sometimes' then 2 when 'never' then 3 else 4 end

)

select * from final
