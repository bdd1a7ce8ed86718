-- Checks that explain no verdict: they say the score again, or measure what passes lack too.
-- `is_verdict`: the only one of its source, at several tasks or as a number, and always the verdict of the attempt.
-- grain: benchmark, name
-- looks at: run
select
    benchmark,
    name,
    bool_or(is_verdict) as is_verdict
from (
    select
        benchmark,
        name,
        false as is_verdict
    from staging.modes
    where reason in ('same as score', 'measure')
    union all
    select
        benchmark,
        min(check_sign(source, check_name)) as name,
        true as is_verdict
    from main.checks
    inner join staging.rollouts using (run_id, task_id, rollout_index)
    inner join staging.run_benchmarks using (run_id)
    -- What the record counts among the parts of the reward is not all of it.
    where is_passed is not null and is_pass is not null and not coalesce(is_of_reward, false)
    group by benchmark, source
    having
        count(distinct check_name) = 1
        and bool_and(is_passed = is_pass)
        and (count(distinct task_id) > 1 or bool_and(coalesce(score = reward, false)))
)
group by benchmark, name
