-- Of graded failures with several checks, how many fail exactly one.
-- grain: run_id
with counted as (
    select
        run_id,
        task_id,
        rollout_index,
        count(*) as n_checks,
        count(*) filter (where not is_passed) as n_failed
    from main.checks
    inner join staging.run_benchmarks using (run_id)
    -- What says the score again is none of several.
    left join (from staging.modes where reason in ('same as score', 'part of score', 'measure')) as scores
        on scores.benchmark = run_benchmarks.benchmark
        and scores.name = checks.source || ': ' || checks.check_name
    where is_passed is not null and scores.mode is null
    group by all
)
select
    run_id,
    benchmark,
    count(*) as n_failures,
    count(*) filter (where n_failed = 1) as n_near,
    min_by(run_id || '/' || task_id || ':' || rollout_index, (-n_checks, task_id, rollout_index), 3)
        filter (where n_failed = 1) as citations
from counted
inner join staging.rollouts using (run_id, task_id, rollout_index)
inner join staging.run_benchmarks using (run_id)
where not is_pass and n_checks > 1 and n_failed > 0
group by all
order by run_id
