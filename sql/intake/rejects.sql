-- A line that could not be used, with the reason and its beginning.
-- grain: source_file, source_line
-- kind: table
with
-- Rows whose key another row holds already: rejects that only a whole run can show.
duplicates as (
    select
        record_id,
        'duplicate of ' || winner || ' (task ' || task_id || ', rollout ' || rollout_index || ')'
            as reason
    from staging.keys
    where rank > 1 and role in ('rollout', 'input')
),
refused as (
    select record_id, reason
    from staging.label_faults
    union all
    select
        record_id,
        'superseded by ' || winner as reason
    from staging.label_ranks
    where rank > 1
),
-- Labels that do not count: what they name is not there, or a later one took their place.
refused_labels as (
    select refused.record_id, refused.reason, labels.snippet
    from refused
    inner join raw.labels using (record_id)
),
rejects as (
    select record_id, reason, snippet
    from raw.rejects
    union all
    select
        record_id,
        reason,
        null as snippet
    from duplicates
    union all
    select record_id, reason, snippet
    from refused_labels
)
select
    files.path as source_file,
    rejects.record_id % 1099511627776 as source_line,
    rejects.reason,
    rejects.snippet
from rejects
inner join raw.files on files.file_no = rejects.record_id // 1099511627776
