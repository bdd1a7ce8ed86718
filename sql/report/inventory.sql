-- How many files of each kind were read, and what became of their lines: of all, of a benchmark, of a run.
-- grain: benchmark, run_id, kind
-- looks at: across
-- kind: table
with owned as (
    select
        benchmark,
        run_id,
        path
    from (select unnest(run_ids) as run_id, path from main.artifacts)
    inner join main.runs using (run_id)
),
-- A file of several runs counts once for their benchmark.
scoped as (
    select
        '' as benchmark,
        '' as run_id,
        path
    from main.artifacts
    union
    select
        benchmark,
        '',
        path
    from owned
    union
    from owned
),
counted as (
    select
        benchmark,
        scoped.run_id,
        kind,
        count(*) as n_files,
        cast(sum(n_bytes) as bigint) as n_bytes,
        cast(sum(n_lines) as bigint) as n_lines,
        cast(sum(n_rows) as bigint) as n_rows,
        cast(sum(n_rejects) as bigint) as n_rejects,
        cast(sum(n_other) as bigint) as n_other,
        cast(sum(n_blank) as bigint) as n_blank
    from scoped
    inner join main.artifacts using (path)
    group by all
)
-- A page opens with the totals, which any row may be asked for.
select
    *,
    cast(sum(n_files) over own as bigint) as n_all_files,
    cast(sum(n_lines) over own as bigint) as n_all_lines,
    cast(sum(n_rows) over own as bigint) as n_all_rows,
    cast(sum(n_rejects) over own as bigint) as n_all_rejects,
    cast(sum(n_other) over own as bigint) as n_all_other,
    cast(sum(n_blank) over own as bigint) as n_all_blank,
    coalesce(n_all_lines, 0)
        = coalesce(n_all_rows, 0) + coalesce(n_all_rejects, 0) + coalesce(n_all_other, 0) + coalesce(n_all_blank, 0)
        as is_accounted
from counted
window own as (partition by benchmark, run_id)
order by benchmark, run_id, kind
