-- The rollout that came nearest, of each task that never passes.
-- grain: run_id, task_id
with

-- By reward, then by the verifier's own checks, then by how far it got.
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
        ) as rank,
        count(*) over (
            partition by run_id, task_id, reward, n_checks_passed, n_matched_actions, last_stage_no
        ) as n_best

    from staging.never_rollouts

),

final as (

    select
        run_id,
        task_id,
        citation,
        reward,
        n_checks_passed,
        n_checks_passed + n_checks_failed as n_checks,
        n_matched_actions,
        n_expected_actions,
        n_best

    from ranked

    where rank = 1

)

select * from final
