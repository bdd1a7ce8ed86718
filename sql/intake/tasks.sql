-- One question of a benchmark, over all runs that were asked it.
-- grain: benchmark, task_id
-- looks at: task
select
    tasks.benchmark,
    tasks.task_id,
    texts.prompt,
    case when records.has_prompt then tasks.prompt_sha end as prompt_sha,
    tasks.n_prompts,
    tasks.slices
from staging.tasks
inner join raw.texts
    on texts.record_id = tasks.prompt_record
inner join staging.records
    on records.record_id = tasks.prompt_record
