-- Rejected lines that still say which rollout they were, where that rollout has no row.
-- grain: run_id, task_id, rollout_index
with

named as (

    select
        files.run_name,
        rejects.record_id,
        regexp_extract(rejects.snippet, '"_ng_task_index"\s*:\s*"?([^",}\s]+)', 1) as task_id,
        try_cast(regexp_extract(rejects.snippet, '"_ng_rollout_index"\s*:\s*(\d{1,9})', 1) as bigint)
            as rollout_index

    from raw.rejects as rejects

    inner join raw.files as files on files.file_no = rejects.record_id // 1099511627776

    where files.kind = 'rollouts'

),

final as (

    select
        attempts.run_id,
        attempts.task_id,
        attempts.rollout_index,
        min(named.record_id) as lost_record_id

    from named

    inner join staging.run_keys as run_keys using (run_name)

    inner join staging.attempts as attempts
        on attempts.run_id = run_keys.run_id
        and attempts.task_id = named.task_id
        and attempts.rollout_index = named.rollout_index

    where not attempts.is_recorded

    group by all

)

select * from final
