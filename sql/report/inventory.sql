-- How many files of each kind were found, and what became of their lines.
-- grain: kind
with

final as (

    select
        kind,
        count(*) as n_files,
        cast(sum(n_bytes) as bigint) as n_bytes,
        cast(sum(n_lines) as bigint) as n_lines,
        cast(sum(n_rows) as bigint) as n_rows,
        cast(sum(n_rejects) as bigint) as n_rejects,
        cast(sum(n_other) as bigint) as n_other,
        cast(sum(n_blank) as bigint) as n_blank

    from main.artifacts

    group by all

    order by kind

)

select * from final
