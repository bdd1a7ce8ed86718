-- Runs that reported figures of themselves which their rows do not give.
-- grain: subject
with

final as (

    select
        run_id as subject,
        count(*) || ' figures it reported differ from what its rows give, such as ' || min(metric)
            as message,
        'blade sql "from reported_checks where status = ''differs''"' as hint

    from main.reported_checks

    where status = 'differs'

    group by run_id

)

select * from final
