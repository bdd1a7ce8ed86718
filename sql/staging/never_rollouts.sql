-- The recorded rollouts of tasks that never pass, with how far each got.
-- grain: run_id, task_id, rollout_index
-- kind: table
with

final as (

    select
        features.run_id,
        features.task_id,
        features.rollout_index,
        features.run_id || '/' || rollouts.rollout_id as citation,
        features.reward,
        features.n_checks_passed,
        features.n_checks_failed,
        features.n_matched_actions,
        features.n_expected_actions,
        rollouts.answer,
        stages.last_stage_no,
        stages.last_stage

    from main.task_outcomes as outcomes

    inner join main.rollout_features as features using (run_id, task_id)

    inner join main.rollouts as rollouts using (run_id, task_id, rollout_index)

    left join main.rollout_stages as stages using (run_id, task_id, rollout_index)

    where outcomes.bucket = 'never'

)

select * from final
