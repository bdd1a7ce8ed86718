-- Labels that name only what is there, and of those for one task which one counts: the last.
-- grain: record_id
-- kind: table
with labels as (
    select
        labels.record_id,
        labels.run_id,
        labels.task_id,
        files.path as source_file,
        labels.record_id % 1099511627776 as source_line
    from raw.labels
    inner join raw.files on files.file_no = labels.record_id // 1099511627776
    left join staging.label_faults as faults using (record_id)
    where faults.record_id is null
)
-- Ids ascend by file, in path order, and by line.
select
    record_id,
    run_id,
    task_id,
    source_file,
    source_line,
    row_number() over same_task as rank,
    first_value(source_file || ':' || source_line) over same_task as winner
from labels
window same_task as (partition by run_id, task_id order by record_id desc)
