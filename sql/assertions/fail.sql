-- What must not happen: a row here is a bug in blade, and ends the analysis.
-- grain: check_name, subject
-- looks at: across
with
others as (
    select
        records.source_file,
        count(*) as n_other
    from staging.keys
    inner join staging.records using (record_id)
    where
        (keys.rank = 1 or keys.role = 'failure')
        and records.file_kind <> case keys.role
            when 'input' then 'inputs' when 'failure' then 'failures' else 'rollouts' end
    group by all
)
-- A run id that a citation or a folder could not carry.
select
    'fail_citation_ambiguous' as check_name,
    run_id as subject,
    'is not a safe and unique run id' as message,
    '' as hint
from main.runs
where
    not regexp_matches(run_id, '^[A-Za-z0-9_-][A-Za-z0-9._-]*$')
    or lower(run_id) in (select lower(run_id) from main.runs group by all having count(*) > 1)
union all by name
-- A line of a file read row by row that is neither row, reject, other nor blank.
select
    'fail_line_lost' as check_name,
    artifacts.path as subject,
    'unaccounted lines: ' || (artifacts.n_other - coalesce(others.n_other, 0)) as message,
    '' as hint
from main.artifacts
left join others on others.source_file = artifacts.path
where
    artifacts.kind in ('rollouts', 'inputs', 'failures', 'labels')
    and artifacts.n_other <> coalesce(others.n_other, 0)
