-- What a person read in a rollout: a mode in their own words, a cause, a note, the evidence cited.
-- grain: run_id, task_id, rollout_index, said_by
-- looks at: task
with recursive lines as (
    select
        labels.*,
        files.path as source_file,
        labels.record_id % 1099511627776 as source_line
    from raw.labels
    inner join raw.files on files.file_no = labels.record_id // 1099511627776
),
labels as (
    select *
    from lines
    anti join main.rejects using (source_file, source_line)
    where rollout_index is not null
),
renames as (
    select
        renamed,
        mode,
        row_number() over (order by record_id) as rename_no
    from lines
    anti join main.rejects using (source_file, source_line)
    where renamed is not null
),
-- Renamings take effect one after the other, so that two modes can change names.
named as (
    select distinct
        mode as mode_given,
        mode,
        0 as rename_no
    from labels
    where mode is not null
    union all
    select
        named.mode_given,
        if(named.mode = renames.renamed, renames.mode, named.mode) as mode,
        renames.rename_no
    from named
    inner join renames on renames.rename_no = named.rename_no + 1
)
select
    run_id,
    task_id,
    labels.rollout_index,
    coalesce(labels.said_by, '') as said_by,
    names.mode,
    labels.mode as mode_given,
    labels.cause,
    labels.note,
    labels.evidence,
    labels.seed,
    labels.source_file,
    labels.source_line
from labels
left join (
    select
        mode_given,
        arg_max(mode, rename_no) as mode
    from named
    group by all
) as names on names.mode_given = labels.mode
order by run_id, task_id, rollout_index, said_by
