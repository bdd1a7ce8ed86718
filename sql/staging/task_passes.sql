-- How many rollouts of a task passed and failed, over all runs of the benchmark.
-- grain: benchmark, task_id
-- kind: table
with

final as (

    select
        run_benchmarks.benchmark,
        attempts.task_id,
        count(*) filter (where attempts.is_pass) as n_passed,
        count(*) filter (where attempts.is_scored and not attempts.is_pass) as n_failed

    from staging.attempts as attempts

    inner join staging.run_benchmarks as run_benchmarks using (run_id)

    group by all

)

select * from final
