-- pass@1 as it is, of attempts without a mode or without any, of the best attempts, of another run.
-- grain: run_id, step_no
-- kind: table
with

steps as (

    select * from staging.ablation_steps

),

metrics as (

    select * from main.run_metrics

),

gains as (

    select
        steps.run_id,
        steps.step_no,
        case steps.scope
            when 'baseline' then 0
            when 'oracle' then metrics.retry_value
            when 'reference run' then null
            else coalesce(gains.gain, 0)
        end as gain

    from steps

    inner join metrics using (run_id)

    left join staging.ablation_gains as gains
        on gains.run_id = steps.run_id
        and gains.scope = steps.scope
        and gains.name = coalesce(steps.mode, 'all')

),

final as (

    select
        steps.run_id,
        steps.step_no,
        case
            when steps.scope in ('mode', 'all') then 'without ' || coalesce(steps.mode, 'all')
            else steps.scope
        end as step,
        steps.mode,
        reference.reference_run_id,
        case steps.scope
            when 'oracle' then metrics.pass_at_k
            when 'reference run' then reference.pass_at_1
            else metrics.pass_at_1 + gains.gain
        end as pass_at_1,
        coalesce(reference.gain, gains.gain) as gain,
        coalesce(reference.n_tasks, metrics.n_scored_tasks) as n_tasks

    from steps

    inner join metrics using (run_id)

    inner join gains using (run_id, step_no)

    left join staging.reference_runs as reference
        on reference.run_id = steps.run_id
        and steps.scope = 'reference run'

)

select * from final
