-- A call that every pass of a task makes, and no failing rollout of the run: two or more of each.
-- grain: run_id, task_id
with

missing as (

    select
        run_id,
        task_id,
        tool,
        count(*) as n_rollouts

    from staging.missing_habits

    where argument = ''

    group by all

),

final as (

    select
        missing.run_id,
        missing.task_id,
        min(missing.tool) as tool

    from missing

    inner join staging.task_context as context using (run_id, task_id)

    where missing.n_rollouts = context.n_failed and context.n_failed > 1

    group by all

)

select * from final
