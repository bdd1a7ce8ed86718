-- The scored repeats of the tasks that two runs share, laid end to end for a test of their difference.
-- grain: base, candidate, metric
with

tasks as (

    select
        task_values.base,
        task_values.candidate,
        task_values.metric,
        task_values.task_id,
        dense_rank() over (
            partition by task_values.base, task_values.candidate order by task_values.task_group
        ) as group_no,
        bases.n_scored as n_base,
        candidates.n_scored as n_candidate,
        bases.n_passed as n_base_passed,
        candidates.n_passed as n_candidate_passed,
        case when task_values.metric = 'mean_reward' then bases.rewards end as base_rewards,
        case when task_values.metric = 'mean_reward' then candidates.rewards end
            as candidate_rewards,
        bases.is_graded or candidates.is_graded as is_graded,
        bases.is_bounded and candidates.is_bounded as is_bounded

    from staging.comparison_values as task_values

    inner join staging.task_sides as bases
        on bases.run_id = task_values.base
        and bases.task_id = task_values.task_id

    inner join staging.task_sides as candidates
        on candidates.run_id = task_values.candidate
        and candidates.task_id = task_values.task_id

    where task_values.change is not null

),

final as (

    select
        base,
        candidate,
        metric,
        values_by(n_base, task_id) as n_base,
        values_by(n_candidate, task_id) as n_candidate,
        values_by(n_base_passed, task_id) as n_base_passed,
        values_by(n_candidate_passed, task_id) as n_candidate_passed,
        joined_by(base_rewards, task_id) as base_rewards,
        joined_by(candidate_rewards, task_id) as candidate_rewards,
        values_by(group_no, task_id) as group_no,
        bool_or(is_graded) as is_graded,
        not bool_or(not is_bounded) as is_bounded

    from tasks

    group by base, candidate, metric

)

select * from final
