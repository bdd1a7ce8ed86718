-- The scored rollouts of tasks that a run sometimes passes, to be contrasted within their run.
-- grain: task_no, record_id
-- looks at: task
select
    -- A number for the task within its run.
    min(record_id) over (partition by run_id, task_id) as task_no,
    record_id,
    run_id,
    task_id,
    rollout_index,
    is_pass,
    n_tool_calls as n_calls,
    cast(null as bigint) as flip_no
from staging.rollouts
semi join (from main.task_outcomes where bucket = 'sometimes') using (run_id, task_id)
-- Of what was not recorded there is nothing to contrast.
where is_scored and n_tool_calls is not null
