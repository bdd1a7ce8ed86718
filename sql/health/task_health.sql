-- The health of a task's recorded rollouts, and what only all of them together show.
-- grain: run_id, task_id
-- kind: table
with counted as (
    select
        run_id,
        task_id,
        count(*) as n_rollouts,
        count(*) filter (where health = 'healthy') as n_healthy,
        count(*) filter (where health = 'unhealthy') as n_unhealthy,
        count(*) filter (where health = 'unobserved') as n_unobserved
    from main.rollout_health
    group by all
),
findings as (
    select
        run_id,
        task_id,
        distinct_values(check_id) as findings
    from staging.task_findings
    group by all
)
select
    counted.run_id,
    counted.task_id,
    counted.n_rollouts,
    counted.n_healthy,
    counted.n_unhealthy,
    counted.n_unobserved,
    coalesce(findings.findings, no_texts()) as findings
from counted
left join findings using (run_id, task_id)
