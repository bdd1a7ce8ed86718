-- How often each check fails in attempts that pass and in those that fail, over a benchmark.
-- grain: benchmark, source, check_name
select
    benchmark, source, check_name,
    count(*) filter (where is_pass) as n_passes,
    count(*) filter (where not is_pass) as n_failures,
    count(*) filter (where is_pass and not is_passed) as n_passing,
    count(*) filter (where not is_pass and not is_passed) as n_failing,
    count(distinct task_id) filter (where not is_pass and not is_passed) as n_tasks,
    -- One among others is more than the verdict, even where few rows make them agree. The score that
    -- the reward is says no more than the reward.
    max(n_beside) = 1
        and (
            source = 'score'
            or bool_and(is_pass = is_passed) and (source = 'row' or count(distinct task_id) > 1)
        ) as is_verdict
from (
    select
        *,
        count(*) over (partition by run_id, task_id, rollout_index, source) as n_beside
    from main.checks
    where is_passed is not null
)
inner join staging.rollouts using (run_id, task_id, rollout_index)
inner join staging.run_benchmarks using (run_id)
where is_pass is not null
group by benchmark, source, check_name
