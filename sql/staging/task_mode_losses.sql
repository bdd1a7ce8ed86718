-- What each failure mode takes of a compared task's pass rate and reward: as scored, and with missing rows.
-- grain: run_id, task_id, mode
-- kind: table
with

attempts as (

    select
        attempts.run_id,
        attempts.task_id,
        -- A pass may still have less than the full reward.
        coalesce(modes.mode, 'passed') as mode,
        attempts.is_scored,
        not coalesce(attempts.is_pass, false) as is_failure,
        greatest(1, runs.pass_threshold) - coalesce(attempts.reward, 0) as shortfall,
        sides.n_scored,
        sides.n_attempts

    from staging.attempts as attempts

    inner join staging.task_sides as sides using (run_id, task_id)

    inner join main.runs as runs using (run_id)

    left join main.rollout_modes as modes
        on modes.run_id = attempts.run_id
        and modes.task_id = attempts.task_id
        and modes.rollout_index = attempts.rollout_index
        and modes.is_primary

    where runs.pass_threshold is not null

),

final as (

    select
        run_id,
        task_id,
        mode,
        count(*) filter (where is_failure and is_scored) / nullif(n_scored, 0) as pass_loss,
        sorted_sum(case when is_scored then shortfall end) / nullif(n_scored, 0) as reward_loss,
        count(*) filter (where is_failure) / nullif(n_attempts, 0) as counted_pass_loss,
        sorted_sum(shortfall) / nullif(n_attempts, 0) as counted_reward_loss

    from attempts

    group by run_id, task_id, mode, n_scored, n_attempts

)

select * from final
