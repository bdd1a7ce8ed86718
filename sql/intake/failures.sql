-- One failed attempt, as the failures file or a merged rollout file recorded it.
-- grain: run_id, task_id, rollout_index, attempt
-- looks at: task
-- kind: table
-- needs: staging.keys where role = 'failure'
with keys as (from staging.keys where role = 'failure')
select
    keys.run_id,
    keys.task_id,
    keys.rollout_index,
    -- The file is only appended to: an attempt number may occur twice.
    row_number() over (
        partition by keys.run_id, keys.task_id, keys.rollout_index
        order by keys.attempt_index nulls last, records.source_file, records.source_line
    ) - 1 as attempt,
    keys.attempt_index,
    records.failure_class,
    records.is_terminal,
    coalesce(
        records.judge_error,
        json_field(texts.verifier, 'error_message'),
        json_field(texts.verifier, 'error'),
        json_field(texts.verifier, 'notes'),
        json_field(texts.verifier, 'error_class'),
        json_field(texts.verifier, 'skipped')
    ) as message,
    json_field(texts.verifier, 'error_class') as error_class,
    json_field(texts.verifier, 'error_stage') as error_stage,
    as_json(texts.verifier) as verifier,
    records.source_file,
    records.source_line
from keys
inner join staging.records using (record_id)
inner join raw.texts using (record_id)
