-- What should exist: every task and repeat a run was asked for; inferred ones have no repeat.
-- grain: run_id, task_id, rollout_index
-- kind: table
with

final as (

    select
        run_id,
        task_id,
        rollout_index,
        'inputs' as source

    from staging.expected_inputs

    union all

    select
        run_id,
        task_id,
        rollout_index,
        'profile' as source

    from staging.expected_profile

    union all

    select
        run_id,
        task_id,
        cast(null as bigint) as rollout_index,
        'inferred' as source

    from staging.inferred_missing

)

select * from final
