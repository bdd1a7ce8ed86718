-- How many scored tasks of a run have so many scored repeats.
-- grain: run_id, n_scored
select
    run_id,
    n_scored,
    count(*) as n_tasks,
    sorted_sum(max_reward) as total_max_reward
from main.task_outcomes
where n_scored > 0
group by all
