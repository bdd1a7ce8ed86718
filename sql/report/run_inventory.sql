-- How many files of each kind a run was read from, and what became of their lines.
-- grain: run_id, kind
with per_run as (
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
counted as (
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
),
totalled as (
    select
        *,
        cast(sum(n_files) over (partition by run_id) as bigint) as n_all_files,
        cast(sum(n_lines) over (partition by run_id) as bigint) as n_all_lines,
        cast(sum(n_rows) over (partition by run_id) as bigint) as n_all_rows,
        cast(sum(n_rejects) over (partition by run_id) as bigint) as n_all_rejects,
        cast(sum(n_other) over (partition by run_id) as bigint) as n_all_other,
        cast(sum(n_blank) over (partition by run_id) as bigint) as n_all_blank
    from counted
)
-- A page opens with the totals, which any row may be asked for.
select
    *,
    n_all_lines = n_all_rows + n_all_rejects + n_all_other + n_all_blank as is_accounted
from totalled
order by run_id, kind
