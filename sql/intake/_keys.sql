-- The key of every row, with its task by the name that the runs of its benchmark share.
-- grain: record_id
-- looks at: task
select recorded.* replace (coalesce(paired.task_id, recorded.task_id) as task_id)
from staging.recorded_keys as recorded
left join main.paired_tasks as paired
    on paired.run_id = recorded.run_id
    and paired.recorded_task_id = recorded.task_id
