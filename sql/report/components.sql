-- The components of each run's rewards.
-- grain: run_id, component
select * from main.reward_components order by run_id, component
