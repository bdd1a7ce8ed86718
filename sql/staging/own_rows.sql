-- How many lines of each file became rows of the file's own kind.
-- grain: path
with

files as (

    select * from raw.files

),

final as (

    select
        records.source_file as path,
        count(*) as n_rows

    from staging.keys as keys

    inner join staging.records as records using (record_id)

    where
        (keys.rank = 1 or keys.role = 'failure')
        and records.file_kind = case keys.role
            when 'input' then 'inputs' when 'failure' then 'failures' else 'rollouts' end

    group by all

    union all

    select
        files.path,
        metric_rows.n_rows

    from raw.metric_rows as metric_rows

    inner join files using (file_no)

    union all

    select
        source_file as path,
        count(*) as n_rows

    from main.labels

    group by all

)

select * from final
