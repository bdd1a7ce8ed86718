-- Runs that were re-verified by force.
-- grain: subject
with

final as (

    select
        run_id as subject,
        'was re-verified by force (unsafe_): its rewards are not to be trusted' as message,
        '' as hint

    from main.runs

    where is_unsafe

)

select * from final
