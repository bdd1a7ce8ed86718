-- Rollouts of which two rows claim to be the one, with different rewards.
-- grain: run_id, task_id, rollout_index
with keys as (
    select * from staging.keys where role = 'rollout'
),
repeated as (
    select run_id, task_id, rollout_index
    from keys
    where rank > 1
    group by all
)
select
    keys.run_id,
    keys.task_id,
    keys.rollout_index,
    min(records.reward) as lowest,
    max(records.reward) as highest
from repeated
inner join keys using (run_id, task_id, rollout_index)
inner join staging.records using (record_id)
-- A numbered attempt corrects the one before it.
where keys.attempt_index is null
group by keys.run_id, keys.task_id, keys.rollout_index
having min(records.reward) < max(records.reward)
