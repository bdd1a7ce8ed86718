-- pass@1 under each way to count what was not scored, with the bounds of what was left out.
-- grain: run_id, policy
-- kind: table
with runs as (
    select
        run_id,
        pass_threshold is not null as is_pass_known
    from main.runs
),
counted as (
    select
        run_id,
        task_id,
        count(*) as n_attempts,
        count(*) filter (where is_scored) as n_scored,
        count(*) filter (where is_pass) as n_passed,
        count(*) filter (where is_infrastructure) as n_infrastructure
    from staging.attempts
    group by all
),
policies as (
    select unnest(['dropped', 'counted_as_fail', 'infrastructure_dropped']) as policy
),
-- Passes and attempts of a task under each way to count what was not scored.
policy_tasks as (
    select
        counted.run_id,
        policies.policy,
        counted.task_id,
        counted.n_attempts,
        counted.n_passed,
        case policies.policy
            when 'dropped' then counted.n_scored
            when 'counted_as_fail' then counted.n_attempts
            else counted.n_attempts - counted.n_infrastructure
        end as n_counted
    from counted
    cross join policies
),
-- Tasks of one tally are one row: 100,000 tasks have a few dozen.
tallies as (
    select
        run_id,
        policy,
        n_attempts,
        n_counted,
        n_passed,
        count(*) as n_tasks
    from policy_tasks
    group by all
),
sums as (
    select
        run_id,
        policy,
        cast(coalesce(sum(n_tasks) filter (where n_counted > 0), 0) as bigint) as n_tasks,
        cast(sum(n_tasks) as bigint) as n_all_tasks,
        cast(sum(n_tasks * n_counted) as bigint) as n_counted,
        cast(sum(n_tasks * (n_attempts - n_counted)) as bigint) as n_left_out,
        cast(sum(n_tasks * n_passed) as bigint) as n_passed,
        sorted_sum(n_tasks * n_passed / nullif(n_counted, 0)) as total_rate,
        sorted_sum(n_tasks * n_passed / n_attempts) as total_worst_rate,
        sorted_sum(n_tasks * (n_passed + n_attempts - n_counted) / n_attempts) as total_best_rate
    from tallies
    group by all
)
select
    sums.run_id,
    sums.policy,
    sums.n_tasks,
    sums.n_counted as n_rollouts,
    sums.n_left_out,
    case when runs.is_pass_known then sums.n_passed end as n_passed,
    case when runs.is_pass_known then sums.total_rate / nullif(sums.n_tasks, 0) end as pass_at_1,
    case when runs.is_pass_known then sums.n_passed / nullif(sums.n_counted, 0) end
        as rollout_pass_rate,
    case when runs.is_pass_known then sums.total_worst_rate / nullif(sums.n_all_tasks, 0) end
        as pass_at_1_worst,
    case when runs.is_pass_known then sums.total_best_rate / nullif(sums.n_all_tasks, 0) end
        as pass_at_1_best
from sums
inner join runs using (run_id)
