-- Settings and notes that stand in files beside a run: the nearest folder's, its own first.
-- grain: run_id, name
with folders as (
    select run_keys.run_id, run_name, min(files.folder) as folder
    from staging.run_keys
    inner join raw.files using (run_name)
    where files.kind in ('rollouts', 'inputs', 'failures')
    group by all
),
said as (
    select file_no, name, value
    from raw.config_values
    union all
    select file_no, 'notes' as name, content as value
    from raw.notes
),
nearest as (
    select folders.run_id, said.name, said.value, files.path
    from said
    inner join raw.files using (file_no)
    inner join folders
        on files.run_name = folders.run_name
        or (
            files.run_name is null
            and (files.folder = '' or starts_with(folders.folder || '/', files.folder || '/'))
        )
    qualify rank() over (
        partition by folders.run_id, said.name
        order by files.run_name nulls last, length(files.folder) desc
    ) = 1
)
-- Of one setting the first file's value counts; notes are read on, file after file.
select
    run_id, name,
    case
        when name = 'notes' then string_agg(value, e'\n\n' order by path)
        else arg_min(value, path)
    end as value
from nearest
group by run_id, name
