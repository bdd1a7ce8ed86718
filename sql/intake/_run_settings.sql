-- Settings and notes in the files of a run: its own first, then those of the nearest folder.
-- grain: run_id, name
-- looks at: across
-- kind: table
-- needs: raw.config_values | raw.notes | staging.records where write_tools is not null
with folders as (
    select
        run_keys.run_id,
        run_name,
        min(files.folder) as folder
    from staging.run_keys
    inner join raw.files using (run_name)
    where files.kind in ('rollouts', 'inputs', 'failures')
    group by all
),
settings_in_files as (
    select
        file_no,
        name,
        value
    from raw.config_values
    -- How blade reads a file is no setting of the run.
    where name <> 'read_as'
    union all
    select
        file_no,
        'notes' as name,
        content as value
    from raw.notes
),
nearest as (
    select
        folders.run_id,
        settings_in_files.name,
        settings_in_files.value,
        files.path
    from settings_in_files
    inner join raw.files using (file_no)
    inner join folders
        on files.run_name = folders.run_name
        or (
            files.run_name is null
            and (files.folder = '' or starts_with(folders.folder || '/', files.folder || '/'))
        )
    qualify rank() over (
        partition by folders.run_id, settings_in_files.name
        order by files.run_name nulls last, length(files.folder) desc
    ) = 1
),
-- Tools that change state, by the definitions in the rows' own requests.
defined as (
    select
        run_keys.run_id,
        'write_tools' as name,
        array_to_string(
            list_sort(list_distinct(flatten(list(string_split(records.write_tools, ', '))))), ', '
        ) as value
    from staging.records
    inner join staging.run_keys
        on run_keys.run_name = records.run_name
        and run_keys.agent_key in ('', records.part)
    where records.write_tools is not null
    group by all
)
-- Of one setting the first file's value counts; notes are read on, file after file.
select
    run_id,
    name,
    case
        when name = 'notes' then string_agg(value, e'\n\n' order by path)
        else arg_min(value, path)
    end as value
from nearest
group by run_id, name
union all
from defined
anti join nearest using (run_id, name)
