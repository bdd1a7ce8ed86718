-- The questions each run really asked; from its inputs only where the task has no rollout.
-- grain: run_id, task_id, prompt_sha
-- looks at: task
select
    prompts.run_id,
    prompts.task_id,
    case when has_prompt then prompts.prompt_sha end as prompt_sha,
    prompts.benchmark,
    texts.prompt,
    instructed.system_prompt,
    prompts.n_rows
from staging.task_prompts as prompts
inner join raw.texts
    on texts.record_id = prompts.prompt_record
inner join raw.texts as instructed
    on instructed.record_id = prompts.system_prompt_record
-- Without a question only the ground truth could tell two apart.
qualify
    has_prompt
    or row_number() over (
        partition by prompts.run_id, prompts.task_id, has_prompt
        order by prompts.n_rows desc, prompts.prompt_sha
    ) = 1
