-- Baselines that were named and are no run of these results.
-- grain: subject
with

final as (

    select
        baselines.run_id as subject,
        'is named as the baseline, and no run has this name' as message,
        'blade sql "select benchmark, run_id from runs order by all"' as hint

    from raw.baselines as baselines

    left join main.runs as runs using (run_id)

    where runs.run_id is null

)

select * from final
