-- The rollouts of a compared task that did best and worst.
-- grain: run_id, task_id
-- kind: table
select
    attempts.run_id,
    attempts.task_id,
    least_by(attempts.rollout_index, -attempts.reward) as best_index,
    least_by(attempts.rollout_index, attempts.reward) as worst_index
from staging.attempts
inner join staging.task_sides as sides using (run_id, task_id)
where attempts.is_scored
group by attempts.run_id, attempts.task_id
