-- Every file of the results folder: what it is, and what became of each of its lines.
-- grain: path
-- kind: table
with

files as (

    select * from raw.files

),

runs as (

    select
        run_name,
        case when count(*) = 1 then min(run_id) end as run_id,
        list(run_id order by run_id) as run_ids

    from staging.run_keys

    group by all

),

own_rows as (

    select * from staging.own_rows

),

rejects as (

    select
        source_file as path,
        count(*) as n_rejects

    from main.rejects

    group by all

),

final as (

    select
        files.path,
        files.kind,
        runs.run_id,
        coalesce(runs.run_ids, []) as run_ids,
        files.n_bytes,
        files.n_lines,
        coalesce(own_rows.n_rows, 0) as n_rows,
        coalesce(rejects.n_rejects, 0) as n_rejects,
        -- Rows of another kind than the file's, and lines of files that are read whole or not at all.
        files.n_lines - files.n_blank
            - coalesce(own_rows.n_rows, 0) - coalesce(rejects.n_rejects, 0) as n_other,
        files.n_blank,
        files.sha256

    from files

    left join runs using (run_name)

    left join own_rows using (path)

    left join rejects using (path)

)

select * from final
