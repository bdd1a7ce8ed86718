-- A run id that a citation or a folder could not carry.
-- grain: subject
with

final as (

    select
        run_id as subject,
        'is not a safe and unique run id' as message,
        '' as hint

    from main.runs

    where
        not regexp_matches(run_id, '^[A-Za-z0-9_-][A-Za-z0-9._-]*$')
        or lower(run_id) in (select lower(run_id) from main.runs group by all having count(*) > 1)

)

select * from final
