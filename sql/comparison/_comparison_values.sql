-- What a task is worth on both sides of a comparison, by metric: as scored, and with what is missing.
-- grain: base, candidate, metric, task_id
-- kind: table
with joined as (
    select
        tasks.base,
        tasks.candidate,
        tasks.task_id,
        tasks.pairing,
        tasks.is_paired,
        tasks.is_common,
        coalesce(bases.task_group, candidates.task_group, tasks.task_id) as task_group,
        tasks.base_pass_rate,
        tasks.candidate_pass_rate,
        tasks.pass_change,
        tasks.reward_change,
        tasks.base_mean_reward,
        tasks.candidate_mean_reward,
        tasks.base_n_scored,
        tasks.candidate_n_scored,
        bases.is_graded or candidates.is_graded as is_graded,
        bases.pass_variance as base_pass_variance,
        candidates.pass_variance as candidate_pass_variance,
        bases.reward_variance as base_reward_variance,
        candidates.reward_variance as candidate_reward_variance,
        bases.lowest_pass_rate as base_lowest_pass_rate,
        bases.highest_pass_rate as base_highest_pass_rate,
        candidates.lowest_pass_rate as candidate_lowest_pass_rate,
        candidates.highest_pass_rate as candidate_highest_pass_rate,
        bases.lowest_reward as base_lowest_reward,
        bases.highest_reward as base_highest_reward,
        candidates.lowest_reward as candidate_lowest_reward,
        candidates.highest_reward as candidate_highest_reward,
        bases.is_bounded and candidates.is_bounded as is_bounded
    from main.comparison_tasks as tasks
    left join staging.task_sides as bases
        on bases.run_id = tasks.base
        and bases.task_id = tasks.task_id
    left join staging.task_sides as candidates
        on candidates.run_id = tasks.candidate
        and candidates.task_id = tasks.task_id
)
select
    base,
    candidate,
    'pass_at_1' as metric,
    task_id,
    pairing,
    is_paired,
    is_common,
    task_group,
    base_n_scored,
    candidate_n_scored,
    is_graded,
    base_pass_rate as base_value,
    candidate_pass_rate as candidate_value,
    pass_change as change,
    base_pass_variance as base_variance,
    candidate_pass_variance as candidate_variance,
    base_lowest_pass_rate as base_lowest,
    base_highest_pass_rate as base_highest,
    candidate_lowest_pass_rate as candidate_lowest,
    candidate_highest_pass_rate as candidate_highest,
    true as is_bounded
from joined
union all
select
    base,
    candidate,
    'mean_reward' as metric,
    task_id,
    pairing,
    is_paired,
    is_common,
    task_group,
    base_n_scored,
    candidate_n_scored,
    is_graded,
    base_mean_reward as base_value,
    candidate_mean_reward as candidate_value,
    reward_change as change,
    base_reward_variance as base_variance,
    candidate_reward_variance as candidate_variance,
    base_lowest_reward as base_lowest,
    base_highest_reward as base_highest,
    candidate_lowest_reward as candidate_lowest,
    candidate_highest_reward as candidate_highest,
    is_bounded
from joined
