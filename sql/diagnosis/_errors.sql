-- Every error message of a run, from its tools, its verifier and its failed attempts.
-- grain: run_id, task_id, rollout_index, source, place
with verifier as (
    select
        rollouts.run_id,
        rollouts.task_id,
        rollouts.rollout_index,
        coalesce(
            signs.verifier_error,
            signs.sandbox_error,
            -- Of a pass it tells why it passed.
            case when not coalesce(rollouts.is_pass, false) then signs.verifier_text end
        ) as message
    from staging.verifier_signs as signs
    inner join main.rollouts using (record_id)
)
select
    run_id,
    task_id,
    rollout_index,
    'tool' as source,
    result_seq as place,
    run_id || '/' || task_id || ':' || rollout_index || '#' || result_seq as citation,
    tool,
    message,
    signature
from staging.call_errors
union all
select
    run_id,
    task_id,
    rollout_index,
    'verifier' as source,
    0 as place,
    run_id || '/' || task_id || ':' || rollout_index as citation,
    null as tool,
    left(message, 300) as message,
    error_signature(message) as signature
from verifier
where message is not null
union all
select
    run_id,
    task_id,
    rollout_index,
    'failed attempt' as source,
    attempt as place,
    -- It may have no rollout to cite.
    source_file || ':' || source_line as citation,
    null as tool,
    left(message, 300) as message,
    error_signature(message) as signature
from main.failures
where message is not null
