-- How much of a run a health check found something in, and what most often.
-- grain: run_id
with
-- Of recorded rollouts: a check may also find what left no row to open.
found as (
    select
        run_id,
        unnest(findings) as check_id,
        run_id || '/' || task_id || ':' || rollout_index as example
    from main.rollout_health
    where health = 'unhealthy'
),
checks as (
    select
        run_id,
        check_id,
        count(*) as n_rollouts,
        arg_min(example, (length(example), example)) as example
    from found
    group by all
),
commonest as (
    select
        run_id,
        arg_min(check_id, (-n_rollouts, check_id)) as subject,
        arg_min(example, (-n_rollouts, check_id)) as example
    from checks
    group by all
)
select
    health.run_id,
    'unhealthy' as kind,
    false as is_overturning,
    1 - health.clean_rate as stake,
    commonest.subject,
    health.n_unhealthy as n_concerned,
    health.n_rollouts as n_total,
    1 - health.clean_rate as share,
    commonest.example
from main.run_health as health
inner join commonest using (run_id)
where health.n_unhealthy > 0
