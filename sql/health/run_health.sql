-- The health of each run: its rollouts, what could not be read, what is stale, what disagrees.
-- grain: run_id
-- kind: table
with counted as (
    select
        run_id,
        sum(n_healthy) as n_healthy,
        sum(n_unhealthy) as n_unhealthy,
        sum(n_unobserved) as n_unobserved
    from main.task_health
    group by all
),
rejects as (
    select
        run_id,
        sum(n_rejects) as n_rejects
    from (
        select
            unnest(run_ids) as run_id,
            n_rejects
        from main.artifacts
    ) as files
    group by all
),
stale as (
    select
        run_id,
        count(*) as n_stale_failures
    from staging.stale_failures
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
        distinct_values(check_id) as findings
    from main.health_findings
    group by all
)
select
    runs.run_id,
    runs.n_rollouts,
    cast(coalesce(counted.n_healthy, 0) as bigint) as n_healthy,
    cast(coalesce(counted.n_unhealthy, 0) as bigint) as n_unhealthy,
    cast(coalesce(counted.n_unobserved, 0) as bigint) as n_unobserved,
    (runs.n_rollouts - counted.n_unhealthy) / nullif(runs.n_rollouts, 0) as clean_rate,
    cast(coalesce(rejects.n_rejects, 0) as bigint) as n_rejects,
    coalesce(stale.n_stale_failures, 0) as n_stale_failures,
    runs.n_models,
    metrics.coverage,
    coalesce(differing.n_differences, 0) as n_reported_differences,
    coalesce(findings.findings, no_texts()) as findings
from main.runs
inner join main.run_metrics as metrics using (run_id)
left join counted using (run_id)
left join rejects using (run_id)
left join stale using (run_id)
left join differing using (run_id)
left join findings using (run_id)
