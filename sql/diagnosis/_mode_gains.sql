-- What pass@1 would gain without a mode, with an intervention, or without any mode.
-- grain: run_id, scope, name
-- kind: table
with tasks as (
    select
        run_id, task_id,
        count(*) as n_attempts,
        count(*) filter (where is_scored) as n_scored,
        count(*) filter (where is_pass) as n_passed
    from staging.attempts
    group by all
),
-- How many attempts of a task have each mode, and of how many it is the primary one.
task_modes as (
    select
        run_id, task_id, mode,
        intervention,
        -- Few beside all attempts: what is not among the unscored is scored.
        count(*) filter (where unscored.run_id is null) as n_matching,
        count(*) filter (where is_primary) as n_primary,
        count(*) filter (where is_primary and not unscored.is_recorded) as n_unrecorded
    from main.rollout_modes
    semi join (from main.runs where pass_threshold is not null) using (run_id)
    left join (from staging.attempts where not is_scored) as unscored
        using (run_id, task_id, rollout_index)
    group by all
),
affected_tasks as (
    select
        'mode' as scope,
        mode as name,
        * exclude (mode, intervention)
    from task_modes
    union all by name
    select
        'intervention' as scope,
        intervention as name,
        run_id,
        task_id,
        cast(sum(n_primary) as bigint) as n_primary,
        cast(sum(n_unrecorded) as bigint) as n_unrecorded
    from task_modes
    where intervention is not null and n_primary > 0
    group by all
    union all by name
    -- A failing attempt is an unexplained one, or has some mode.
    select
        'all' as scope,
        'all' as name,
        run_id,
        task_id,
        n_scored - n_passed - coalesce(max(if(mode = 'UNEXPLAINED', n_matching, null)), 0)
            as n_matching
    from task_modes
    inner join tasks using (run_id, task_id)
    group by run_id, task_id, n_scored, n_passed
),
-- Tasks of one tally gain alike; the first of them that left a row to open stand for it.
tallies as (
    select
        run_id,
        scope,
        name,
        n_attempts,
        n_scored,
        n_passed,
        n_matching,
        n_primary,
        count(*) as n_tasks,
        sum(n_unrecorded) as n_unrecorded,
        min_by(
            if(scope = 'intervention' and n_unrecorded < n_primary, task_id, null),
            (try_cast(task_id as bigint), task_id),
            5
        ) as task_ids
    from affected_tasks
    inner join tasks using (run_id, task_id)
    group by all
),
-- At least the affected attempts do as well as the task's others, which hold its passes; at most
-- they all pass.
sums as (
    select
        run_id,
        scope,
        name,
        cast(sum(n_tasks * n_primary) as bigint) as n_rollouts,
        cast(coalesce(sum(n_tasks) filter (where n_primary > 0), 0) as bigint) as n_tasks,
        cast(sum(n_unrecorded) as bigint) as n_unrecorded,
        sorted_sum(
            n_tasks * n_primary * n_passed / nullif(n_attempts * (n_attempts - n_primary), 0)
        ) as total_low,
        sorted_sum(n_tasks * n_primary / nullif(n_attempts, 0)) as total_high,
        -- Each task counts its attempts without the mode only: of those that pass there are some.
        sorted_sum(case when n_passed > 0 then
            n_tasks * (n_passed / nullif(n_scored - n_matching, 0) - n_passed / nullif(n_scored, 0))
        end) as total_without,
        -- The five tasks that gain most.
        list_sort(flatten(list(list_transform(
            task_ids,
            lambda task_id: {
                loss: -n_primary / nullif(n_attempts, 0) - coalesce(
                    n_primary * n_passed / nullif(n_attempts * (n_attempts - n_primary), 0), 0
                ),
                task_no: try_cast(task_id as bigint),
                task_id: task_id
            }
        ))))[1:5] as tasks
    from tallies
    group by all
)
select
    run_id,
    scope,
    name,
    sums.n_rollouts,
    sums.n_tasks,
    sums.n_unrecorded,
    policies.pass_at_1 as baseline,
    coalesce(sums.total_low, 0) / nullif(policies.n_tasks, 0) as gain_low,
    sums.total_high / nullif(policies.n_tasks, 0) as gain_high,
    sums.total_without / nullif(metrics.n_scored_tasks, 0) as gain_without,
    sums.tasks
from sums
inner join main.denominators as policies using (run_id)
inner join main.run_metrics as metrics using (run_id)
where policies.policy = 'counted_as_fail'
