-- How each expected or recorded task of a run fared, over its repeats.
-- grain: run_id, task_id
-- looks at: task
-- kind: table
with counted as (
    select
        run_id,
        task_id,
        count(*) as n_attempts,
        count(*) filter (is_expected) as n_expected,
        count(*) filter (is_recorded) as n_rollouts,
        count(*) filter (is_scored) as n_scored,
        count(*) filter (is_pass) as n_passed,
        count(*) filter (is_expected and is_pass) as n_expected_passed,
        list(reward order by reward) as rewards,
        list_sum(rewards) / nullif(n_scored, 0) as mean_reward
    from staging.attempts
    group by all
)
select
    run_id,
    task_id,
    runs.benchmark,
    case when runs.n_expected is not null then counted.n_expected end as n_expected,
    counted.n_rollouts,
    counted.n_scored,
    case when runs.pass_threshold is not null then counted.n_passed end as n_passed,
    case when runs.pass_threshold is not null then counted.n_passed / nullif(counted.n_scored, 0) end
        as pass_rate,
    mean_reward,
    sqrt(
        list_sum(list_transform(
            rewards, lambda reward: (reward - mean_reward) * (reward - mean_reward)
        ))
        / nullif(counted.n_scored - 1, 0)
    ) as reward_std,
    list_min(rewards) as min_reward,
    list_max(rewards) as max_reward,
    case
        when counted.n_scored = 0 then 'missing'
        when runs.pass_threshold is null then null
        when counted.n_passed = counted.n_scored then 'always'
        when counted.n_passed = 0 then 'never'
        else 'sometimes'
    end as bucket,
    counted.n_scored < n_attempts as is_partial,
    -- Of what was expected; of what was recorded where nothing says what was.
    case
        when runs.pass_threshold is null then null
        when runs.n_expected is not null
            then counted.n_expected > 0 and n_expected_passed = counted.n_expected
        else counted.n_passed = counted.n_rollouts
    end as is_consistent
from counted
inner join main.runs using (run_id)
