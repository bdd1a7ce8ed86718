-- A task that never passes: where its attempts stop, what they share, and how far the best one got.
-- grain: run_id, task_id
-- kind: table
with

outcomes as (

    select * from main.task_outcomes where bucket = 'never'

),

attempts as (

    select
        features.*,
        stages.last_stage,
        stages.last_stage_no,
        rollouts.rollout_id,
        rollouts.answer

    from main.rollout_features as features

    inner join outcomes using (run_id, task_id)

    inner join main.rollouts as rollouts using (run_id, task_id, rollout_index)

    left join main.rollout_stages as stages using (run_id, task_id, rollout_index)

),

stages as (

    select
        run_id,
        task_id,
        last_stage,
        count(*) as n_rollouts,
        row_number() over (
            partition by run_id, task_id order by count(*) desc, last_stage
        ) as rank

    from attempts

    group by run_id, task_id, last_stage

),

modes as (

    select
        run_id,
        task_id,
        mode,
        count(*) as n_rollouts,
        row_number() over (partition by run_id, task_id order by count(*) desc, mode) as rank

    from main.rollout_modes

    where is_primary

    group by run_id, task_id, mode

),

-- The best by reward, then by the verifier's own checks, then by how far it got.
ranked as (

    select
        *,
        row_number() over (
            partition by run_id, task_id
            order by
                reward desc nulls last,
                n_checks_passed desc nulls last,
                n_matched_actions desc nulls last,
                last_stage_no desc nulls last,
                rollout_index
        ) as rank

    from attempts

),

answers as (

    select
        run_id,
        task_id,
        case when count(distinct answer) = 1 and count(answer) = count(*) then left(min(answer), 200) end
            as shared_answer

    from attempts

    group by all

),

final as (

    select
        outcomes.run_id,
        outcomes.task_id,
        outcomes.n_scored,
        modes.mode,
        modes.n_rollouts as n_with_mode,
        stages.last_stage,
        stages.n_rollouts as n_at_last_stage,
        errors.signature as error_signature,
        coalesce(errors.n_rollouts, 0) as n_with_error,
        coalesce(tools.tools, []) as shared_tools,
        answers.shared_answer,
        outcomes.max_reward as best_reward,
        best.run_id || '/' || best.rollout_id as best_rollout,
        best.n_checks_passed,
        best.n_checks_passed + best.n_checks_failed as n_checks,
        best.n_matched_actions,
        best.n_expected_actions,
        passes.n_passing_runs,
        passes.n_runs

    from outcomes

    inner join staging.task_passes as passes using (benchmark, task_id)

    left join stages
        on stages.run_id = outcomes.run_id
        and stages.task_id = outcomes.task_id
        and stages.rank = 1

    left join modes
        on modes.run_id = outcomes.run_id
        and modes.task_id = outcomes.task_id
        and modes.rank = 1

    left join ranked as best
        on best.run_id = outcomes.run_id
        and best.task_id = outcomes.task_id
        and best.rank = 1

    left join answers
        on answers.run_id = outcomes.run_id
        and answers.task_id = outcomes.task_id

    left join staging.never_errors as errors
        on errors.run_id = outcomes.run_id
        and errors.task_id = outcomes.task_id

    left join staging.never_tools as tools
        on tools.run_id = outcomes.run_id
        and tools.task_id = outcomes.task_id

)

select * from final
