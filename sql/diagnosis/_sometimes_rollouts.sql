-- The scored rollouts of tasks that a run sometimes passes, to be contrasted within their run.
-- grain: task_no, record_id
with rollouts as (
    select * from main.rollouts where is_scored
),
tasks as (
    select
        rollouts.run_id,
        rollouts.task_id,
        -- A number for the task within its run.
        min(rollouts.record_id) as task_no
    from rollouts
    inner join main.task_outcomes as outcomes using (run_id, task_id)
    where outcomes.bucket = 'sometimes'
    group by rollouts.run_id, rollouts.task_id
)
select
    tasks.task_no,
    rollouts.record_id,
    rollouts.run_id,
    rollouts.task_id,
    rollouts.rollout_index,
    rollouts.is_pass,
    coalesce(rollouts.n_tool_calls, 0) as n_calls,
    cast(null as bigint) as flip_no
from rollouts
inner join tasks using (run_id, task_id)
