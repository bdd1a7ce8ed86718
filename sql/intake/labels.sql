-- The root cause a curator gave a task of a run in a labels.jsonl, with the evidence cited.
-- grain: run_id, task_id
-- looks at: task
with labels as (
    select
        labels.*,
        files.path as source_file,
        labels.record_id % 1099511627776 as source_line
    from raw.labels
    inner join raw.files on files.file_no = labels.record_id // 1099511627776
)
select
    run_id,
    task_id,
    cause,
    intervention,
    note,
    evidence,
    said_by,
    source_file,
    source_line
from labels
anti join main.rejects using (source_file, source_line)
-- Labels of rollouts, and other names for modes, are in rollout_labels.
where rollout_index is null and renamed is null
order by run_id, task_id
