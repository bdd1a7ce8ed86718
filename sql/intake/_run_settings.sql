-- Settings and notes that stand in files beside a run: the nearest folder's, its own first.
-- grain: run_id, name
with run_folders as (
    select
        run_keys.run_id,
        run_keys.run_name,
        min(files.folder) as folder
    from staging.run_keys
    inner join raw.files using (run_name)
    where files.kind in ('rollouts', 'inputs', 'failures')
    group by all
),
said as (
    select file_no, name, value
    from raw.config_values
    union all
    select
        file_no,
        'notes' as name,
        content as value
    from raw.notes
),
placed as (
    select
        run_folders.run_id,
        said.name,
        said.value,
        files.path,
        rank() over (
            partition by run_folders.run_id, said.name
            order by files.run_name nulls last, length(files.folder) desc
        ) as rank,
        row_number() over (
            partition by run_folders.run_id, said.name
            order by files.run_name nulls last, length(files.folder) desc, files.path
        ) as place
    from said
    inner join raw.files using (file_no)
    inner join run_folders
        on files.run_name = run_folders.run_name
        or (
            files.run_name is null
            and (
                files.folder = ''
                or files.folder = run_folders.folder
                or starts_with(run_folders.folder, files.folder || '/')
            )
        )
)
-- Of one setting the first file's value counts; notes are read on, file after file.
select
    run_id,
    name,
    string_agg(value, e'\n\n' order by path) as value
from placed
where rank = 1 and (place = 1 or name = 'notes')
group by run_id, name
