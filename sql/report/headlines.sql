-- The headline row of each run, with what decides how it is worded.
-- grain: run_id
select
    metrics.*,
    runs.agent,
    runs.checkpoint,
    runs.expected_source,
    run_order.place,
    metrics.n_scored = 0 as is_unscored,
    metrics.n_scored > 0 and metrics.k_max = 1 as is_single_repeat,
    repeats.most_repeats > 1 as has_lost_repeats,
    metrics.k_min < metrics.k_max as is_ragged,
    metrics.n_scored > 0 and metrics.pass_threshold is null as is_unsettled,
    metrics.pass_threshold is null
        and metrics.min_reward >= 0
        and metrics.max_reward <= 1
        and not benchmarks.is_continuous as is_unsettled_by_others,
    coalesce(metrics.pass_threshold is null and benchmarks.is_continuous, false) as is_continuous,
    runs.n_expected is null as is_expected_unknown,
    metrics.n_scored_tasks = 1 as is_single_task,
    coalesce(metrics.n_unexpected, 0) > 0 as has_unexpected,
    metrics.n_inferred_missing_tasks > 0 as has_inferred,
    coalesce(metrics.se_with_twice_the_tasks > 1e-12, false) as can_split_variance,
    coalesce(metrics.pass_at_1_se_new_tasks <= 1e-12, false) as has_no_spread,
    coalesce(metrics.se_with_twice_the_tasks < metrics.se_with_twice_the_repeats - 1e-12, false)
        as buys_tasks,
    coalesce(abs(metrics.rollout_pass_rate - metrics.pass_at_1) > 1e-9, false) as has_two_rates,
    metrics.n_scored < metrics.n_rollouts
        or coalesce(metrics.coverage < 1, false)
        as is_incomplete
from main.run_metrics as metrics
inner join main.runs using (run_id)
inner join staging.run_order using (run_id)
inner join staging.run_benchmarks as benchmarks using (run_id)
left join (
    select run_id, greatest(max(n_rollouts), coalesce(max(n_expected), 0)) as most_repeats
    from main.task_outcomes
    group by all
) as repeats using (run_id)
order by metrics.benchmark, run_order.place
