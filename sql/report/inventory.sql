-- How many files of each kind were found, and what became of their lines.
-- grain: kind
with counted as (
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
),
totalled as (
    select
        *,
        cast(sum(n_files) over () as bigint) as n_all_files,
        cast(sum(n_lines) over () as bigint) as n_all_lines,
        cast(sum(n_rows) over () as bigint) as n_all_rows,
        cast(sum(n_rejects) over () as bigint) as n_all_rejects,
        cast(sum(n_other) over () as bigint) as n_all_other,
        cast(sum(n_blank) over () as bigint) as n_all_blank
    from counted
)
-- A page opens with the totals, which any row may be asked for.
select
    *,
    n_all_lines = n_all_rows + n_all_rejects + n_all_other + n_all_blank as is_accounted
from totalled
order by kind
