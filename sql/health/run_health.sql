-- The health of each run: its rollouts, what could not be read, what is stale, what disagrees.
-- grain: run_id
-- looks at: run
-- kind: table
with counted as (
    select
        run_id,
        count(*) filter (where health = 'healthy') as n_healthy,
        count(*) filter (where health = 'unhealthy') as n_unhealthy,
        count(*) filter (where health = 'unobserved') as n_unobserved
    from main.rollout_health
    group by all
),
files as (
    select
        unnest(run_ids) as run_id,
        n_rejects
    from main.artifacts
),
rejects as (
    select
        run_id,
        cast(sum(n_rejects) as bigint) as n_rejects
    from files
    group by all
),
differing as (
    select
        run_id,
        count(*) as n_differences
    from main.reported_checks
    where status = 'differs'
    group by all
),
findings as (
    select
        run_id,
        count(*) filter (where check_id = 'run_stale_failure') as n_stale_failures,
        list(distinct check_id order by check_id) as findings
    from main.health_findings
    group by all
)
select
    runs.run_id,
    runs.n_rollouts,
    coalesce(counted.n_healthy, 0) as n_healthy,
    coalesce(counted.n_unhealthy, 0) as n_unhealthy,
    coalesce(counted.n_unobserved, 0) as n_unobserved,
    (runs.n_rollouts - counted.n_unhealthy) / nullif(runs.n_rollouts, 0) as clean_rate,
    coalesce(rejects.n_rejects, 0) as n_rejects,
    coalesce(findings.n_stale_failures, 0) as n_stale_failures,
    runs.n_models,
    metrics.coverage,
    coalesce(differing.n_differences, 0) as n_reported_differences,
    coalesce(findings.findings, []) as findings
from main.runs
inner join main.run_metrics as metrics using (run_id)
left join counted using (run_id)
left join rejects using (run_id)
left join differing using (run_id)
left join findings using (run_id)
