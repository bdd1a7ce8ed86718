-- labels: the labels that the analysis read, of tasks and of rollouts, with modes as they are called now
select
    run_id,
    task_id,
    rollout_index,
    mode,
    cause,
    intervention,
    note,
    said_by,
    seed,
    evidence
from (
    from labels
    union all by name
    from rollout_labels
)
order by source_file, source_line;

-- exists: whether a task ($2) of a run ($1), a rollout ($3) and an event ($4) exist
select
    exists (from task_outcomes where run_id = $1 and task_id = $2) as has_task,
    $3::bigint is null
    or exists (from rollouts where run_id = $1 and task_id = $2 and rollout_index = $3)
    or exists (from expected where run_id = $1 and task_id = $2 and rollout_index = $3) as has_rollout,
    $4::bigint is null or exists (
        from events
        where run_id = $1 and task_id = $2 and rollout_index = $3 and seq = $4
    ) as has_event;
