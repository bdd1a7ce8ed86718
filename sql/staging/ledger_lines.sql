-- The lines of all five ledgers, before they are rounded: each explains a part of one change.
-- grain: base, candidate, metric, policy, ledger, slice_key, line, effect
-- kind: table
with

levels as (

    select * from staging.comparison_levels where n_common_tasks > 0

),

-- A part of a mean of differences is itself one: its error is that of the tasks it moves.
averaged as (

    select
        base,
        candidate,
        metric,
        'dropped' as policy,
        'bucket transitions' as ledger,
        line,
        amount,
        sum_of_squares,
        n_tasks,
        example_task

    from staging.ledger_transitions

    union all

    select
        base,
        candidate,
        metric,
        policy,
        'failure modes' as ledger,
        line,
        amount,
        sum_of_squares,
        n_tasks,
        example_task

    from staging.ledger_modes

),

spread as (

    select
        averaged.*,
        case averaged.policy
            when 'dropped' then levels.n_common_tasks
            else levels.n_paired_tasks
        end as n_units

    from averaged

    inner join levels using (base, candidate, metric)

),

final as (

    select
        base,
        candidate,
        metric,
        'dropped' as policy,
        'task mix' as ledger,
        '' as slice_key,
        line,
        '' as effect,
        amount,
        n_tasks,
        null as se,
        n_tasks as n_units,
        null as rate_change,
        example_side,
        example_task

    from staging.ledger_mix

    union all

    select
        base,
        candidate,
        metric,
        policy,
        ledger,
        '' as slice_key,
        line,
        '' as effect,
        amount,
        n_tasks,
        error_of_mean(sum_of_squares, amount, n_units) as se,
        n_units,
        null as rate_change,
        -- What a mode no longer takes was seen in the base.
        case when ledger = 'failure modes' and amount > 0 then 'base' else 'candidate' end
            as example_side,
        example_task

    from spread

    union all

    select
        base,
        candidate,
        metric,
        'dropped' as policy,
        'funnel' as ledger,
        '' as slice_key,
        line,
        effect,
        amount,
        null as n_tasks,
        null as se,
        null as n_units,
        null as rate_change,
        null as example_side,
        null as example_task

    from staging.funnel_effects

    union all

    select
        base,
        candidate,
        metric,
        'dropped' as policy,
        'slices' as ledger,
        slice_key,
        slice_value as line,
        effect,
        amount,
        n_tasks,
        se,
        n_tasks as n_units,
        rate_change,
        'candidate' as example_side,
        example_task

    from staging.ledger_slices

)

select * from final
