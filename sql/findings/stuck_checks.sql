-- Tasks that a run always fails on one and the same check, while another run passes them.
-- grain: run_id, task_id
-- looks at: task
-- kind: table
-- needs: main.checks where not is_passed
-- needs: (from staging.run_benchmarks offset 1)
with failed as (
    select
        run_id,
        task_id,
        rollout_index,
        list(check_sign(source, check_name) order by source, check_name) filter (where not is_passed) as names,
        min(check_name) filter (where not is_passed) as check_name,
        count(*) as n_checks
    from main.checks
    -- The score that the reward is says nothing beside the verdict.
    where is_passed is not null and source <> 'score'
    group by all
    having count(*) filter (where not is_passed) > 0
),
tasks as (
    select
        run_id,
        task_id,
        benchmark,
        count(*) as n_attempts,
        count(*) filter (where is_pass) as n_passed
    from staging.rollouts
    inner join staging.run_benchmarks using (run_id)
    where is_scored
    group by all
),
elsewhere as (
    select
        benchmark,
        task_id,
        sum(n_passed) as n_passes,
        count(*) filter (where n_passed > 0) as n_passing_runs
    from tasks
    group by all
)
select
    benchmark,
    run_id,
    task_id,
    min(check_name) as check_name,
    max(n_checks) as n_checks,
    n_attempts,
    n_passing_runs,
    run_id || '/' || task_id || ':' || min(rollout_index) as citation
from tasks
inner join failed using (run_id, task_id)
inner join elsewhere using (benchmark, task_id)
where
    n_passed = 0
    and n_attempts > 1
    and n_passes > 0
group by benchmark, run_id, task_id, n_attempts, n_passing_runs
-- Every attempt fails just this one.
having count(*) = n_attempts and max(len(names)) = 1 and min(names[1]) = max(names[1])
