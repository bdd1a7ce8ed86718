-- What a task is worth on both sides of a comparison, by metric: as scored, and with what is missing.
-- grain: base, candidate, metric, task_id
-- looks at: across
-- kind: table
-- needs: staging.run_pairs
select
    tasks.base,
    tasks.candidate,
    unnest(['pass_at_1', 'mean_reward']) as metric,
    tasks.task_id,
    tasks.pairing,
    tasks.is_paired,
    tasks.is_common,
    tasks.is_possible,
    coalesce(bases.task_group, candidates.task_group, tasks.task_id) as task_group,
    tasks.base_n_scored,
    tasks.candidate_n_scored,
    tasks.base_n_attempts,
    tasks.candidate_n_attempts,
    tasks.base_bucket,
    tasks.candidate_bucket,
    bases.is_graded or candidates.is_graded as is_graded,
    unnest([tasks.base_pass_rate, tasks.base_mean_reward]) as base_value,
    unnest([tasks.candidate_pass_rate, tasks.candidate_mean_reward]) as candidate_value,
    unnest([tasks.pass_change, tasks.reward_change]) as change,
    unnest([bases.pass_variance, bases.reward_variance]) as base_variance,
    unnest([candidates.pass_variance, candidates.reward_variance]) as candidate_variance,
    unnest([bases.lowest_pass_rate, bases.lowest_reward]) as base_lowest,
    unnest([bases.highest_pass_rate, bases.highest_reward]) as base_highest,
    unnest([candidates.lowest_pass_rate, candidates.lowest_reward]) as candidate_lowest,
    unnest([candidates.highest_pass_rate, candidates.highest_reward]) as candidate_highest,
    unnest([bases.lowest_pass_variance, bases.lowest_reward_variance]) as base_lowest_variance,
    unnest([candidates.lowest_pass_variance, candidates.lowest_reward_variance])
        as candidate_lowest_variance,
    unnest([true, bases.is_bounded is not false and candidates.is_bounded is not false]) as is_bounded
from main.comparison_tasks as tasks
left join staging.task_sides as bases
    on bases.run_id = tasks.base
    and bases.task_id = tasks.task_id
left join staging.task_sides as candidates
    on candidates.run_id = tasks.candidate
    and candidates.task_id = tasks.task_id
