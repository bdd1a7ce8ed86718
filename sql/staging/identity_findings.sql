-- Rollouts whose key several rows claim, that the machinery failed, or whose reward is not to be trusted.
-- grain: run_id, task_id, rollout_index, check_id, subject
with

shared as (

    select
        run_id,
        task_id,
        rollout_index,
        max(rank) as n_rows

    from staging.keys

    where role = 'rollout' and rank > 1

    group by all

),

final as (

    select
        keys.run_id,
        keys.task_id,
        keys.rollout_index,
        'rollout_duplicate_identity' as check_id,
        records.source_file || ':' || records.source_line as subject,
        shared.n_rows || ' rows share the task and the repeat' as message,
        'the row that counts is ' || keys.winner as evidence

    from staging.keys as keys

    inner join shared using (run_id, task_id, rollout_index)

    inner join staging.records as records using (record_id)

    where keys.role = 'rollout'

    union all

    select
        attempts.run_id,
        attempts.task_id,
        attempts.rollout_index,
        'rollout_infrastructure_failure' as check_id,
        '' as subject,
        'the machinery failed, not the model, and nothing was scored' as message,
        'failure class ' || failed_attempts.failure_class as evidence

    from staging.attempts as attempts

    inner join staging.failed_attempts as failed_attempts using (run_id, task_id, rollout_index)

    where not attempts.is_scored and failed_attempts.is_infrastructure

    union all

    select
        rollouts.run_id,
        rollouts.task_id,
        rollouts.rollout_index,
        'rollout_unsafe_reward' as check_id,
        '' as subject,
        'the run was verified again by force: its rewards are not to be trusted' as message,
        null as evidence

    from staging.rollout_keys as rollouts

    inner join main.runs as runs using (run_id)

    where runs.is_unsafe

)

select * from final
