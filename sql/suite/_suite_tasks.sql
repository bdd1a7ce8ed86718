-- How each task of a benchmark fared with each entrant of the suite, over all runs that are pooled.
-- grain: benchmark, entrant, task_id
-- looks at: across
-- kind: table
-- needs: staging.suite_runs
with outcomes as (
    select
        entered.entrant,
        entered.entrant_no,
        entered.is_base,
        outcomes.*,
        runs.n_expected is not null as is_expected_known,
        ranges.lowest >= -1e-9 and ranges.highest <= 1 + 1e-9 as is_bounded,
        ranges.highest - ranges.lowest as value_range,
        -- By rewards, where some is more than a pass or a failure, or nothing says what passes.
        coalesce(
            bool_or(outcomes.pass_rate is null or abs(outcomes.mean_reward - outcomes.pass_rate) > 1e-9)
                filter (where outcomes.n_scored > 0) over (partition by outcomes.benchmark),
            false
        ) as is_by_reward,
        sides.question,
        tasks.task_group,
        coalesce(sides.n_attempts, greatest(outcomes.n_rollouts, coalesce(outcomes.n_expected, 0))) as n_attempts
    from main.task_outcomes as outcomes
    inner join staging.suite_runs as entered using (run_id)
    inner join main.runs using (run_id)
    inner join staging.run_benchmarks as ranges using (run_id)
    left join staging.run_tasks as tasks using (run_id, task_id)
    left join staging.task_sides as sides using (run_id, task_id)
    where entered.pooling <> 'refused' and entered.is_entered
),
pooled as (
    select
        benchmark,
        entrant,
        entrant_no,
        is_base,
        task_id,
        min(task_group) as task_group,
        case when min(question) = max(question) then min(question) end as question,
        is_bounded,
        value_range,
        is_by_reward,
        bool_and(is_expected_known) as is_expected_known,
        cast(sum(n_attempts) as bigint) as n_attempts,
        cast(sum(n_scored) as bigint) as n_scored,
        cast(sum(n_passed) as bigint) as n_passed,
        sorted_sum(n_scored * mean_reward) as total_reward,
        sorted_sum(
            coalesce((n_scored - 1) * reward_std * reward_std, 0) + n_scored * mean_reward * mean_reward
        ) as total_square,
        bool_and(min_reward = max_reward) and min(min_reward) = max(max_reward) as is_alike
    from outcomes
    group by all
)
select
    * exclude (n_passed, total_reward, total_square, is_alike),
    if(is_by_reward, total_reward, n_passed) / nullif(n_scored, 0) as value,
    case
        when n_scored < 2 then null
        when is_alike then 0
        when is_by_reward
            then greatest(total_square - total_reward * total_reward / n_scored, 0) / (n_scored - 1) / n_scored
        else value * (1 - value) / (n_scored - 1)
    end as sampling_variance,
    -- What is missing failed; what is missing passed.
    case when is_bounded or n_attempts = n_scored then
        coalesce(if(is_by_reward, total_reward, n_passed), 0) / nullif(n_attempts, 0)
    end as lowest,
    case when is_bounded or n_attempts = n_scored then
        (coalesce(if(is_by_reward, total_reward, n_passed), 0) + n_attempts - n_scored) / nullif(n_attempts, 0)
    end as highest
from pooled
