-- A task that never passes: where its attempts stop, what they share, and how far the best one got.
-- grain: run_id, task_id
-- kind: table
with

outcomes as (

    select * from main.task_outcomes where bucket = 'never'

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
        stages.shared_answer,
        bests.reward as best_reward,
        bests.citation as best_rollout,
        bests.n_best,
        bests.n_checks_passed,
        bests.n_checks,
        bests.n_matched_actions,
        bests.n_expected_actions,
        passes.n_passing_runs,
        passes.n_runs

    from outcomes

    inner join staging.question_passes as passes using (run_id, task_id)

    inner join staging.never_bests as bests using (run_id, task_id)

    inner join staging.never_stages as stages using (run_id, task_id)

    inner join modes
        on modes.run_id = outcomes.run_id
        and modes.task_id = outcomes.task_id
        and modes.rank = 1

    left join staging.never_errors as errors
        on errors.run_id = outcomes.run_id
        and errors.task_id = outcomes.task_id

    left join staging.never_tools as tools
        on tools.run_id = outcomes.run_id
        and tools.task_id = outcomes.task_id

)

select * from final
