-- What pass@1 would gain, at least and at most, without a mode or with an intervention.
-- grain: run_id, scope, name
-- kind: table
with tallies as (
    select * from staging.mode_tallies where scope in ('mode', 'intervention')
),
policies as (
    select * from main.denominators where policy = 'counted_as_fail'
),
-- The affected attempts do as well as the task's others, which hold its passes; or they all pass.
sums as (
    select
        run_id,
        scope,
        name,
        sum(n_tasks * n_primary) as n_rollouts,
        sum(n_tasks) filter (where n_primary > 0) as n_tasks,
        sum(n_unrecorded) as n_unrecorded,
        sorted_sum(
            n_tasks * n_primary * n_passed / nullif(n_attempts * (n_attempts - n_primary), 0)
        ) as total_low,
        sorted_sum(n_tasks * n_primary / nullif(n_attempts, 0)) as total_high
    from tallies
    group by all
)
select
    sums.run_id,
    sums.scope,
    sums.name,
    cast(sums.n_rollouts as bigint) as n_rollouts,
    cast(coalesce(sums.n_tasks, 0) as bigint) as n_tasks,
    cast(sums.n_unrecorded as bigint) as n_unrecorded,
    policies.pass_at_1 as baseline,
    coalesce(sums.total_low, 0) / nullif(policies.n_tasks, 0) as gain_low,
    sums.total_high / nullif(policies.n_tasks, 0) as gain_high
from sums
inner join policies using (run_id)
