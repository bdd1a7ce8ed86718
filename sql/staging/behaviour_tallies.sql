-- How many tasks of a run split a binary feature between passes and failures in one way.
-- grain: run_id, feature, n_passed, n_failed, n_with_passed, n_with_failed
with

behaviours as (

    select * from staging.behaviours where kind = 'binary' and value is not null

),

counted as (

    select
        run_id,
        feature,
        task_id,
        count(*) filter (where is_pass) as n_passed,
        count(*) filter (where not is_pass) as n_failed,
        count(*) filter (where is_pass and value > 0) as n_with_passed,
        count(*) filter (where not is_pass and value > 0) as n_with_failed

    from behaviours

    group by run_id, feature, task_id

),

-- A task in which the feature is known on one side only compares nothing.
final as (

    select
        run_id,
        feature,
        n_passed,
        n_failed,
        n_with_passed,
        n_with_failed,
        count(*) as n_tasks

    from counted

    where n_passed > 0 and n_failed > 0

    group by run_id, feature, n_passed, n_failed, n_with_passed, n_with_failed

)

select * from final
