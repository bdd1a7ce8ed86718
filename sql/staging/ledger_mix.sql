-- The change of the whole score: what shared tasks changed, and what tasks of one run only add.
-- grain: base, candidate, metric, line
with

levels as (

    select * from staging.comparison_levels where n_common_tasks > 0

),

task_values as (

    select task_values.*

    from staging.comparison_values as task_values

    inner join levels using (base, candidate, metric)

),

-- What a task beyond the shared ones moves its run's mean by.
extra as (

    select
        task_values.base,
        task_values.candidate,
        task_values.metric,
        task_values.task_id,
        'candidate' as side,
        case
            when task_values.pairing = 'contradicted' then 'another question in the candidate'
            when task_values.pairing = 'candidate only' then 'only in the candidate'
            else 'not scored in the base'
        end as line,
        (task_values.candidate_value - levels.candidate_common) / levels.n_candidate_tasks
            as amount

    from task_values

    inner join levels using (base, candidate, metric)

    where not task_values.is_common and task_values.candidate_value is not null

    union all

    select
        task_values.base,
        task_values.candidate,
        task_values.metric,
        task_values.task_id,
        'base' as side,
        case
            when task_values.pairing = 'contradicted' then 'another question in the base'
            when task_values.pairing = 'base only' then 'only in the base'
            else 'not scored in the candidate'
        end as line,
        (levels.base_common - task_values.base_value) / levels.n_base_tasks as amount

    from task_values

    inner join levels using (base, candidate, metric)

    where not task_values.is_common and task_values.base_value is not null

),

shared as (

    select
        base,
        candidate,
        metric,
        largest_by(task_id, change) as example_task

    from task_values

    group by all

),

final as (

    select
        levels.base,
        levels.candidate,
        levels.metric,
        'tasks of both' as line,
        levels.delta as amount,
        levels.n_common_tasks as n_tasks,
        'candidate' as example_side,
        shared.example_task

    from levels

    inner join shared using (base, candidate, metric)

    union all

    select
        base,
        candidate,
        metric,
        line,
        steady_sum(amount) as amount,
        count(*) as n_tasks,
        side as example_side,
        largest_by(task_id, amount) as example_task

    from extra

    group by base, candidate, metric, line, side

)

select * from final
