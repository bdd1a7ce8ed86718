-- One attempt of a run at a task: its reward, its size, its last words and where it came from.
-- grain: run_id, task_id, rollout_index
-- looks at: task
select
    rollouts.* exclude (
        answer, prompt_sha, has_prompt, source_file, source_line, record_id, last_message_seq,
        is_observed, constant_duration_s
    ),
    final_texts.final_text,
    rollouts.answer,
    as_json(texts.verifier) as verifier,
    -- Without a question there is nothing to tell two apart by.
    case when rollouts.has_prompt then rollouts.prompt_sha end as prompt_sha,
    rollouts.source_file,
    rollouts.source_line,
    rollouts.record_id
from staging.rollouts
inner join raw.texts using (record_id)
left join staging.final_texts using (record_id)
