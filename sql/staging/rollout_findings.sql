-- Everything that the health checks found on single rollouts.
-- grain: run_id, task_id, rollout_index, check_id, subject
-- kind: table
with

found as (

    select * from staging.call_findings

    union all

    select * from staging.turn_findings

    union all

    select * from staging.reference_findings

    union all

    select * from staging.trajectory_findings

    union all

    select
        record_id,
        check_id,
        '' as subject,
        message,
        evidence

    from staging.response_findings

),

final as (

    select
        keys.run_id,
        keys.task_id,
        keys.rollout_index,
        found.check_id,
        found.subject,
        found.message,
        found.evidence

    from found

    inner join staging.rollout_keys as keys using (record_id)

    union all

    select
        run_id,
        task_id,
        rollout_index,
        check_id,
        subject,
        message,
        evidence

    from staging.identity_findings

)

select * from final
