-- The error that most attempts at a task that never passes have in common.
-- grain: run_id, task_id
with

outcomes as (

    select
        run_id,
        task_id

    from main.task_outcomes

    where bucket = 'never'

),

counted as (

    select
        errors.run_id,
        errors.task_id,
        errors.source,
        errors.signature,
        count(distinct errors.rollout_index) as n_rollouts

    from staging.errors as errors

    inner join outcomes using (run_id, task_id)

    -- A failed attempt is not among the rollouts whose errors are compared.
    where errors.source <> 'failed attempt'

    group by all

),

ranked as (

    select
        *,
        row_number() over (
            partition by run_id, task_id order by n_rollouts desc, source, signature
        ) as rank

    from counted

),

final as (

    select
        run_id,
        task_id,
        source,
        signature,
        n_rollouts

    from ranked

    where rank = 1

)

select * from final
