-- Every file of the results folder: what it is, and what became of each of its lines.
-- grain: path
-- looks at: across
-- kind: table
with runs as (
    select
        run_name,
        case when count(*) = 1 then min(run_id) end as run_id,
        list(run_id order by run_id) as run_ids
    from staging.run_keys
    group by all
),
-- Where one file holds several runs, its own rows say which.
recorded as (
    select
        records.source_file as path,
        list(distinct keys.run_id order by keys.run_id) as run_ids
    from staging.keys
    inner join staging.records using (record_id)
    semi join (from raw.files where format is not null) as others on others.path = records.source_file
    group by all
),
rejects as (
    select
        source_file as path,
        count(*) as n_rejects
    from main.rejects
    group by all
),
-- How many lines of each file became rows of the file's own kind.
own_rows as (
    select
        records.source_file as path,
        count(*) as n_rows
    from staging.keys
    inner join staging.records using (record_id)
    where
        (keys.rank = 1 or keys.role = 'failure')
        and records.file_kind = case keys.role
            when 'input' then 'inputs' when 'failure' then 'failures' else 'rollouts' end
    group by all
    union all
    select
        files.path,
        metric_rows.n_rows
    from raw.metric_rows
    inner join raw.files using (file_no)
    union all
    select
        files.path,
        count(*) as n_rows
    from raw.labels
    inner join raw.files on files.file_no = labels.record_id // 1099511627776
    anti join main.rejects
        on rejects.source_file = files.path and rejects.source_line = labels.record_id % 1099511627776
    group by all
)
select
    path,
    -- A document that names no setting, nor is named so, is not used.
    if(
        files.kind = 'config'
            and not contains(lower(parse_filename(path)), 'config')
            and files.file_no not in (select file_no from raw.config_values),
        'other',
        files.kind
    ) as kind,
    case when recorded.run_ids is null then runs.run_id when len(recorded.run_ids) = 1 then recorded.run_ids[1] end
        as run_id,
    coalesce(recorded.run_ids, runs.run_ids, []) as run_ids,
    files.n_bytes,
    files.n_lines,
    coalesce(own_rows.n_rows, 0) as n_rows,
    coalesce(rejects.n_rejects, 0) as n_rejects,
    -- Rows of another kind than the file's, and lines of files that are read whole or not at all.
    files.n_lines - files.n_blank
        - coalesce(own_rows.n_rows, 0) - coalesce(rejects.n_rejects, 0) as n_other,
    files.n_blank,
    files.sha256
from raw.files
left join runs using (run_name)
left join recorded using (path)
left join own_rows using (path)
left join rejects using (path)
