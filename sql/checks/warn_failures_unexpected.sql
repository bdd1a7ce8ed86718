-- Runs with failed attempts that belong to no expected and no recorded rollout.
-- grain: subject
with

final as (

    select
        failed_attempts.run_id as subject,
        count(*) || ' failed attempts belong to no expected and no recorded rollout and are in no figure: '
            || 'of an earlier run, or the inputs are not here' as message,
        'blade sql "from failures anti join expected using (run_id, task_id, rollout_index)"' as hint

    from staging.failed_attempts as failed_attempts

    left join staging.attempts as attempts using (run_id, task_id, rollout_index)

    where attempts.run_id is null

    group by failed_attempts.run_id

)

select * from final
