-- How much less often attempts with a sign pass than those without it at the same tasks.
-- grain: run_id, sign
-- kind: table
-- needs: main.mode_tests
with tasks as (
    select
        run_id, task_id,
        count(*) as n,
        count(*) filter (where is_pass) as n_passed
    from staging.rollouts
    where is_pass is not null
    group by all
),
signed as (
    select
        benchmark, run_id, task_id,
        sign,
        count(*) as n_signed,
        count(*) filter (where is_pass) as n_signed_passed
    from staging.signs
    inner join staging.rollouts using (run_id, task_id, rollout_index)
    where is_pass is not null
    group by all
),
-- Mantel and Haenszel's weights: a task counts by its smaller side.
weighed as (
    select
        *,
        n - n_signed as n_unsigned,
        n_signed * n_unsigned / n as weight,
        weight * (
            (n_passed - n_signed_passed) / nullif(n_unsigned, 0) - n_signed_passed / n_signed
        ) as difference
    from signed
    inner join tasks using (run_id, task_id)
),
totals as (
    select run_id, cast(sum(n) as bigint) as n_attempts
    from tasks
    group by all
),
summed as (
    select
        benchmark, run_id,
        sign,
        cast(sum(n_signed) as bigint) as n_signed,
        count(*) filter (where weight > 0) as n_tasks,
        count(*) filter (where n_passed = 0) as n_never_tasks,
        list(weight order by weight, difference) filter (where weight > 0) as weights,
        list(difference order by weight, difference) filter (where weight > 0) as differences,
        list_sum(differences) / nullif(list_sum(weights), 0) as risk_difference,
        -- How far attempts alone spread it, were all tasks alike: no estimate of few tasks that agree
        -- by chance is surer.
        (sum(n_signed_passed) filter (where weight > 0) + 0.5)
            / (sum(n_signed) filter (where weight > 0) + 1) as signed_rate,
        (sum(n_passed - n_signed_passed) filter (where weight > 0) + 0.5)
            / (sum(n_unsigned) filter (where weight > 0) + 1) as unsigned_rate,
        list_sum(list(weight * weight / n_signed order by weight, n_signed) filter (where weight > 0))
            * signed_rate * (1 - signed_rate)
        + list_sum(list(weight * weight / n_unsigned order by weight, n_unsigned) filter (where weight > 0))
            * unsigned_rate * (1 - unsigned_rate) as spread
    from weighed
    group by all
)
select
    run_id, sign, tests.source,
    n_signed / nullif(n_attempts, 0) as share,
    n_signed,
    n_attempts - n_signed as n_unsigned,
    n_tasks, n_never_tasks, risk_difference,
    -- Each task left out in turn.
    greatest(sqrt(spread) / nullif(list_sum(weights), 0), sqrt((n_tasks - 1) / n_tasks * list_sum(list_transform(
        list_zip(weights, differences),
        lambda task: pow(
            (list_sum(differences) - task[2]) / nullif(list_sum(weights) - task[1], 0) - risk_difference, 2
        )
    )))) as standard_error,
    tests.p_value, tests.q_value, tests.n_tried
from summed
inner join totals using (run_id)
inner join (
    select benchmark, sign, source, p_value, q_value, n_tried
    from main.mode_tests
    where is_counted and p_value is not null
) as tests using (benchmark, sign)
where n_tasks > 1
order by run_id, sign
