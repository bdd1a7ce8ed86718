-- tasks: the tasks of a run ($1): how many attempts passed, and the failures with their modes
with attempts as (
    select
        task_id,
        sum(duration_s) as seconds,
        list(
            run_id || '/' || task_id || ':' || rollout_index || coalesce('  ' || modes.mode, '')
            order by rollout_index
        ) filter (not coalesce(is_pass, false)) as failures
    from rollouts
    left join rollout_modes as modes using (run_id, task_id, rollout_index)
    where
        run_id = $1
        and coalesce(modes.is_primary, true)
    group by all
)
select
    outcomes.task_id,
    outcomes.benchmark,
    coalesce(outcomes.n_expected, outcomes.n_rollouts) as n_attempts,
    outcomes.n_scored,
    outcomes.n_passed,
    outcomes.mean_reward,
    attempts.seconds,
    coalesce(attempts.failures, []) as failures
from task_outcomes as outcomes
left join attempts using (task_id)
where outcomes.run_id = $1
order by try_cast(outcomes.task_id as bigint), outcomes.task_id;
