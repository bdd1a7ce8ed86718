-- What the health checks found: on rollouts, on tasks over their repeats, on whole runs.
-- grain: run_id, scope, task_id, rollout_index, check_id, subject
-- kind: table
with

found as (

    select
        run_id,
        'rollout' as scope,
        task_id,
        rollout_index,
        check_id,
        subject,
        message,
        evidence

    from staging.rollout_findings

    union all

    select
        run_id,
        'task' as scope,
        task_id,
        null as rollout_index,
        check_id,
        '' as subject,
        message,
        evidence

    from staging.task_findings

    union all

    select
        run_id,
        'run' as scope,
        null as task_id,
        null as rollout_index,
        check_id,
        subject,
        message,
        evidence

    from staging.run_findings

),

final as (

    select
        run_id,
        scope,
        task_id,
        rollout_index,
        check_id,
        subject,
        left(message, 200) as message,
        left(evidence, 200) as evidence

    from found

)

select * from final
