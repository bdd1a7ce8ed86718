-- Runs whose rows name more than one model.
-- grain: subject
with

final as (

    select
        run_id as subject,
        'holds rollouts of ' || n_models || ' models: ' || model as message,
        'blade sql "select model, count(*) from rollouts group by all"' as hint

    from main.runs

    where n_models > 1

)

select * from final
