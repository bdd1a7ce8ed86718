-- Of tasks that flipped, the passes of the run that passes them and the failures of the other.
-- grain: task_no, record_id
with

tasks as (

    select * from staging.flip_tasks

),

sides as (

    select
        flip_no,
        task_id,
        passing_run as run_id,
        true as is_pass

    from tasks

    union all

    select
        flip_no,
        task_id,
        failing_run as run_id,
        false as is_pass

    from tasks

),

ranked as (

    select
        sides.flip_no,
        rollouts.record_id,
        rollouts.run_id,
        rollouts.task_id,
        rollouts.rollout_index,
        rollouts.is_pass,
        rollouts.n_tool_calls,
        row_number() over (
            partition by sides.flip_no, sides.is_pass order by rollouts.rollout_index
        ) as rank

    from sides

    inner join main.rollouts as rollouts
        on rollouts.run_id = sides.run_id
        and rollouts.task_id = sides.task_id
        and rollouts.is_pass = sides.is_pass

    where rollouts.is_scored

),

final as (

    select
        -- Below the numbers of the tasks within one run.
        -flip_no as task_no,
        record_id,
        run_id,
        task_id,
        rollout_index,
        is_pass,
        coalesce(n_tool_calls, 0) as n_calls,
        flip_no

    from ranked

    where rank <= 8

)

select * from final
