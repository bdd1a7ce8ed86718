-- Runs with rollouts whose reward is missing or not a number: kept, never counted as zero.
-- grain: subject
with

final as (

    select
        run_id as subject,
        count(*) filter (where not is_scored) || ' of ' || count(*)
            || ' rollouts have no usable reward and are kept as unscored' as message,
        'blade sql "from rollouts where not is_scored"' as hint

    from main.rollouts

    group by run_id

    having count(*) filter (where not is_scored) > 0

)

select * from final
