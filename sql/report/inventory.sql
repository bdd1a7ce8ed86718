-- How many files of each kind were found, and what became of their lines.
-- grain: kind
with

final as (

    select
        kind,
        count(*) as n_files,
        sum(n_bytes) as n_bytes,
        sum(n_lines) as n_lines,
        sum(n_rows) as n_rows,
        sum(n_rejects) as n_rejects,
        sum(n_other) as n_other,
        sum(n_blank) as n_blank

    from main.artifacts

    group by all

    order by kind

)

select * from final
