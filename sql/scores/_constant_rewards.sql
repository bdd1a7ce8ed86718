-- Runs in which every rollout has one and the same reward that is neither 0 nor 1.
-- grain: run_id
select
    run_id,
    count(*) as n_rollouts,
    min(reward) as reward
from main.rollouts
where is_scored
group by run_id
having
    count(*) > 1
    and count(distinct task_id) > 1
    and min(reward) = max(reward)
    and min(reward) not in (0, 1)
