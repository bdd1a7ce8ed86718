-- How many tasks a mode, an intervention or all modes affect in so many of so many attempts.
-- grain: run_id, scope, name, n_attempts, n_scored, n_passed, n_matching, n_primary
-- kind: table
with

-- Tasks of one tally gain alike; the first of them that left a row to open stand for it.
final as (

    select
        run_id,
        scope,
        name,
        n_attempts,
        n_scored,
        n_passed,
        n_matching,
        n_primary,
        count(*) as n_tasks,
        cast(sum(n_unrecorded) as bigint) as n_unrecorded,
        first_by(
            case when scope = 'intervention' and n_unrecorded < n_primary then task_id end,
            struct_pack(task_no := try_cast(task_id as bigint), task_id := task_id),
            5
        ) as task_ids

    from staging.affected_tasks

    group by all

)

select * from final
