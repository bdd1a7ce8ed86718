-- Of how many attempts of a task each mode, each intervention's modes or any mode are to blame.
-- grain: run_id, scope, name, task_id
with

modes as (

    select * from staging.task_modes

),

final as (

    select
        run_id,
        'mode' as scope,
        mode as name,
        task_id,
        n_attempts,
        n_scored,
        n_passed,
        n_matching,
        n_primary,
        n_unrecorded

    from modes

    union all

    select
        run_id,
        'intervention' as scope,
        intervention as name,
        task_id,
        n_attempts,
        n_scored,
        n_passed,
        null as n_matching,
        cast(sum(n_primary) as bigint) as n_primary,
        cast(sum(n_unrecorded) as bigint) as n_unrecorded

    from modes

    where intervention is not null and n_primary > 0

    group by run_id, intervention, task_id, n_attempts, n_scored, n_passed

    union all

    -- A failing attempt is an unexplained one, or has some mode.
    select
        run_id,
        'all' as scope,
        'all' as name,
        task_id,
        n_attempts,
        n_scored,
        n_passed,
        n_scored - n_passed
            - coalesce(max(case when mode = 'UNEXPLAINED' then n_matching end), 0) as n_matching,
        null as n_primary,
        null as n_unrecorded

    from modes

    group by run_id, task_id, n_attempts, n_scored, n_passed

)

select * from final
