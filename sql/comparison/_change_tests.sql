-- Whether noise alone could have made each change: a p-value, and how it was found.
-- grain: base, candidate, metric
-- kind: step
-- needs: staging.run_pairs
select
    tasks.base, tasks.candidate,
    coalesce(bases.task_group, candidates.task_group, tasks.task_id) as task_group,
    tasks.base_n_scored as n_base,
    tasks.candidate_n_scored as n_candidate,
    tasks.base_n_passed as n_base_passed,
    tasks.candidate_n_passed as n_candidate_passed,
    bases.rewards as base_rewards,
    candidates.rewards as candidate_rewards
from main.comparison_tasks as tasks
left join staging.task_sides as bases
    on bases.run_id = tasks.base
    and bases.task_id = tasks.task_id
left join staging.task_sides as candidates
    on candidates.run_id = tasks.candidate
    and candidates.task_id = tasks.task_id
where tasks.is_common
order by tasks.base, tasks.candidate, tasks.task_id
