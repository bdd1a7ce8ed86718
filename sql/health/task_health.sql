-- The health of a task's recorded rollouts, and what only all of them together show.
-- grain: run_id, task_id
-- looks at: run
with findings as (
    select
        run_id,
        task_id,
        list(check_id order by check_id) as findings
    from main.health_findings
    where scope = 'task'
    group by all
)
select
    run_id,
    task_id,
    count(*) as n_rollouts,
    count(*) filter (where health = 'healthy') as n_healthy,
    count(*) filter (where health = 'unhealthy') as n_unhealthy,
    count(*) filter (where health = 'unobserved') as n_unobserved,
    coalesce(any_value(findings.findings), []) as findings
from main.rollout_health
left join findings using (run_id, task_id)
group by all
order by run_id, task_id
