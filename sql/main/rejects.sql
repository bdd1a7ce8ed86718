-- A line that could not be used, with the reason and its beginning.
-- grain: source_file, source_line
-- kind: table
with

rejects as (

    select
        record_id,
        reason,
        snippet

    from raw.rejects

    union all

    select
        record_id,
        reason,
        null as snippet

    from staging.duplicates

    union all

    select
        record_id,
        reason,
        snippet

    from staging.refused_labels

),

files as (

    select * from raw.files

),

final as (

    select
        files.path as source_file,
        rejects.record_id % 1099511627776 as source_line,
        rejects.reason,
        rejects.snippet

    from rejects

    inner join files on files.file_no = rejects.record_id // 1099511627776

)

select * from final
