-- A line of a file read row by row that is neither row, reject, other nor blank.
-- grain: subject
with

others as (

    select
        records.source_file,
        count(*) as n_other

    from staging.keys as keys

    inner join staging.records as records using (record_id)

    where
        (keys.rank = 1 or keys.role = 'failure')
        and records.file_kind <> case keys.role
            when 'input' then 'inputs' when 'failure' then 'failures' else 'rollouts' end

    group by all

),

final as (

    select
        artifacts.path as subject,
        artifacts.n_other - coalesce(others.n_other, 0) || ' lines are unaccounted for' as message,
        '' as hint

    from main.artifacts as artifacts

    left join others on others.source_file = artifacts.path

    where
        artifacts.kind in ('rollouts', 'inputs', 'failures', 'labels')
        and artifacts.n_other <> coalesce(others.n_other, 0)

)

select * from final
