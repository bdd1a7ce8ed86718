-- pass@1 under each way to count what was not scored, with the bounds of what was left out.
-- grain: run_id, policy
-- looks at: run
-- kind: table
with
-- A failure that the verifier never graded has a reward all the same.
ungraded as (
    select
        run_id,
        task_id,
        count(*) as n_ungraded
    from staging.ungraded
    inner join staging.rollouts using (record_id)
    -- A pass was graded, even where its row leaves much out.
    where is_scored and not coalesce(is_pass, false)
    group by all
),
counted as (
    select
        run_id,
        task_id,
        count(*) as n_attempts,
        count(*) filter (is_scored) as n_scored,
        count(*) filter (is_pass) as n_passed,
        count(*) filter (is_infrastructure) as n_infrastructure,
        coalesce(any_value(n_ungraded), 0) as n_ungraded,
        run_id in (select run_id from ungraded) as has_ungraded
    from staging.attempts
    left join ungraded using (run_id, task_id)
    group by run_id, task_id
),
-- Tasks of one tally are one row: 100,000 tasks have a few dozen.
tallies as (
    select
        * exclude (task_id),
        count(*) as n_tasks
    from counted
    group by all
),
policies as (
    select
        *,
        unnest(list_filter([
            {'policy': 'dropped', 'n_counted': n_scored},
            {'policy': 'counted_as_fail', 'n_counted': n_attempts},
            {'policy': 'infrastructure_dropped', 'n_counted': n_attempts - n_infrastructure},
            {
                'policy': if(has_ungraded, 'ungraded_dropped', null),
                'n_counted': n_scored - n_ungraded
            }
        ], lambda each: each.policy is not null), recursive := true)
    from tallies
),
-- Summed by what the figure is made of, so that the order of the addends does not matter.
merged as (
    select
        run_id,
        policy,
        n_attempts,
        n_counted,
        n_passed,
        cast(sum(n_tasks) as bigint) as n_tasks
    from policies
    group by all
),
sums as (
    select
        run_id,
        policy,
        cast(coalesce(sum(n_tasks) filter (n_counted > 0), 0) as bigint) as n_tasks,
        cast(sum(n_tasks) as bigint) as n_all_tasks,
        cast(sum(n_tasks * n_counted) as bigint) as n_counted,
        cast(sum(n_tasks * (n_attempts - n_counted)) as bigint) as n_left_out,
        cast(sum(n_tasks * n_passed) as bigint) as n_passed,
        sorted_sum(n_tasks * n_passed / nullif(n_counted, 0)) as total_rate,
        sorted_sum(n_tasks * n_passed / n_attempts) as total_worst_rate,
        sorted_sum(n_tasks * (n_passed + n_attempts - n_counted) / n_attempts) as total_best_rate
    from merged
    group by all
)
select
    run_id,
    policy,
    sums.n_tasks,
    n_counted as n_rollouts,
    n_left_out,
    case when is_pass_known then n_passed end as n_passed,
    case when is_pass_known then total_rate / nullif(sums.n_tasks, 0) end as pass_at_1,
    case when is_pass_known then n_passed / nullif(n_counted, 0) end as rollout_pass_rate,
    -- Where nothing says what was expected, only attempts that were recorded can be bounded.
    case when is_pass_known and (n_expected is not null or n_left_out > 0) then
        total_worst_rate / nullif(n_all_tasks, 0)
    end as pass_at_1_worst,
    case when is_pass_known and (n_expected is not null or n_left_out > 0) then
        total_best_rate / nullif(n_all_tasks, 0)
    end as pass_at_1_best
from sums
inner join (
    select
        *,
        pass_threshold is not null and n_passes_without_rows is null as is_pass_known
    from main.runs
) as runs using (run_id)
