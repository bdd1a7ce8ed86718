-- How each expected or recorded task of a run fared, over its repeats.
-- grain: run_id, task_id
-- kind: table
with runs as (
    select
        run_id,
        benchmark,
        n_expected is not null as is_expected_known,
        pass_threshold is not null as is_pass_known
    from main.runs
),
counted as (
    select
        run_id,
        task_id,
        count(*) as n_attempts,
        count(*) filter (where is_expected) as n_expected,
        count(*) filter (where is_recorded) as n_rollouts,
        count(*) filter (where is_scored) as n_scored,
        count(*) filter (where is_pass) as n_passed,
        count(*) filter (where is_expected and is_pass) as n_expected_passed,
        sorted_list(reward) as rewards
    from staging.attempts
    group by all
),
averaged as (
    select
        *,
        list_total(rewards) / nullif(n_scored, 0) as mean_reward
    from counted
)
select
    averaged.run_id,
    averaged.task_id,
    runs.benchmark,
    case when runs.is_expected_known then averaged.n_expected end as n_expected,
    averaged.n_rollouts,
    averaged.n_scored,
    case when runs.is_pass_known then averaged.n_passed end as n_passed,
    case when runs.is_pass_known then averaged.n_passed / nullif(averaged.n_scored, 0) end
        as pass_rate,
    averaged.mean_reward,
    sqrt(
        list_total(list_transform(
            averaged.rewards, lambda reward: square(reward - averaged.mean_reward)
        )) / nullif(averaged.n_scored - 1, 0)
    ) as reward_std,
    list_min(averaged.rewards) as min_reward,
    list_max(averaged.rewards) as max_reward,
    case
        when averaged.n_scored = 0 then 'missing'
        when not runs.is_pass_known then null
        when averaged.n_passed = averaged.n_scored then 'always'
        when averaged.n_passed = 0 then 'never'
        else 'sometimes'
    end as bucket,
    averaged.n_scored < averaged.n_attempts as is_partial,
    -- Of what was expected; of what was recorded where nothing says what was.
    case
        when not runs.is_pass_known then null
        when runs.is_expected_known
            then averaged.n_expected > 0 and averaged.n_expected_passed = averaged.n_expected
        else averaged.n_passed = averaged.n_rollouts
    end as is_consistent
from averaged
inner join runs using (run_id)
