-- Sums over the tasks of a run: how many, how many passed, how many repeats they have.
-- grain: run_id
with repeats as (
    select
        run_id,
        n_scored,
        row_number() over (partition by run_id order by n_tasks desc, n_scored desc) as rank
    from staging.repeat_counts
),
totals as (
    select
        run_id,
        count(*) as n_tasks,
        count(*) filter (where n_scored > 0) as n_scored_tasks,
        count(*) filter (where n_passed > 0) as n_passed_tasks,
        count(*) filter (where is_partial) as n_partial_tasks,
        count(*) filter (where is_consistent) as n_consistent_tasks,
        count(*) filter (where n_expected > 0) as n_expected_tasks,
        greatest(max(n_rollouts), coalesce(max(n_expected), 0)) as most_repeats,
        min(n_scored) filter (where n_scored > 0) as k_min,
        max(n_scored) filter (where n_scored > 0) as k_max,
        min(min_reward) as min_reward,
        max(max_reward) as max_reward
    from main.task_outcomes as outcomes
    group by all
)
select
    totals.*,
    repeats.n_scored as k
from totals
left join repeats
    on repeats.run_id = totals.run_id
    and repeats.rank = 1
