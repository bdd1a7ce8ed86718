-- The rollouts that count, by the row they come from.
-- grain: run_id, task_id, rollout_index
-- looks at: task
select
    record_id,
    run_id,
    task_id,
    rollout_index
from staging.keys
where role = 'rollout' and rank = 1
