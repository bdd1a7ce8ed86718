-- A run's rates summed over the tasks that the same runs scored: these are in the same pairs of runs.
-- grain: run_id, part
with

-- Rates of one denominator are summed as whole numbers.
counted as (

    select
        benchmark,
        part,
        run_id,
        n_scored,
        count(*) as n_tasks,
        sum(n_passed) as n_passed

    from staging.shared_scores

    group by all

),

final as (

    select
        benchmark,
        part,
        run_id,
        sum(n_tasks) as n_tasks,
        sorted_sum(n_passed / nullif(n_scored, 0)) as total_rate

    from counted

    group by all

)

select * from final
