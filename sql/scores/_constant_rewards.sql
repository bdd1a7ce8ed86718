-- Runs in which every rollout has one and the same reward that is neither 0 nor 1.
-- grain: run_id
select run_id, n_scored as n_rollouts, min_reward as reward
from main.run_metrics
where n_scored > 1 and n_scored_tasks > 1 and min_reward = max_reward and is_partial_reward(min_reward)
