-- How many files of each kind a run was read from, and what became of their lines.
-- grain: run_id, kind
with

per_run as (

    select
        unnest(run_ids) as run_id,
        kind,
        n_bytes,
        n_lines,
        n_rows,
        n_rejects,
        n_other,
        n_blank

    from main.artifacts

),

final as (

    select
        run_id,
        kind,
        count(*) as n_files,
        cast(sum(n_bytes) as bigint) as n_bytes,
        cast(sum(n_lines) as bigint) as n_lines,
        cast(sum(n_rows) as bigint) as n_rows,
        cast(sum(n_rejects) as bigint) as n_rejects,
        cast(sum(n_other) as bigint) as n_other,
        cast(sum(n_blank) as bigint) as n_blank

    from per_run

    group by all

    order by run_id, kind

)

select * from final
