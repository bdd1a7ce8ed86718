-- Where a task's rewards, sorted, step up: after how many of how many repeats, and how far.
-- grain: run_id, n_scored, n_below
-- kind: table
with outcomes as (
    select run_id, task_id, n_scored
    from main.task_outcomes
    where min_reward < max_reward
),
rewards as (
    select
        attempts.run_id,
        attempts.task_id,
        outcomes.n_scored,
        attempts.reward,
        count(*) as n_rollouts
    from staging.attempts
    inner join outcomes using (run_id, task_id)
    where attempts.is_scored
    group by all
),
steps as (
    select
        run_id,
        n_scored,
        sum(n_rollouts) over sorted as n_below,
        lead(reward) over sorted - reward as step
    from rewards
    window sorted as (
        partition by run_id, task_id order by reward
        rows between unbounded preceding and current row
    )
)
select
    run_id,
    n_scored,
    cast(n_below as bigint) as n_below,
    sorted_sum(step) as total_step
from steps
where step is not null
group by all
