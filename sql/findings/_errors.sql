-- Every error message of a run, from its tools and its failed attempts.
-- grain: run_id, task_id, rollout_index, source, place
select
    keys.run_id,
    keys.task_id,
    keys.rollout_index,
    'tool' as source,
    result_seq as place,
    run_id || '/' || task_id || ':' || rollout_index || '#' || result_seq as citation,
    tool,
    message,
    signature
from staging.calls
inner join staging.rollout_keys as keys using (record_id)
where is_error
union all by name
select
    run_id,
    task_id,
    rollout_index,
    'failed attempt' as source,
    attempt as place,
    -- It may have no rollout to cite.
    source_file || ':' || source_line as citation,
    left(message, 300) as message,
    error_signature(failures.message) as signature
from main.failures
where failures.message is not null
