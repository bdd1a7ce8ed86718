-- The first recorded rollout of a compared task that fails in each way.
-- grain: run_id, task_id, mode
-- kind: table
with

final as (

    select
        modes.run_id,
        modes.task_id,
        modes.mode,
        min(modes.rollout_index) as rollout_index

    from main.rollout_modes as modes

    inner join staging.task_sides as sides using (run_id, task_id)

    inner join main.rollouts as rollouts using (run_id, task_id, rollout_index)

    where modes.is_primary

    group by modes.run_id, modes.task_id, modes.mode

)

select * from final
