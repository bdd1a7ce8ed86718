-- The questions each run really asked; from its inputs only where the task has no rollout.
-- grain: run_id, task_id, prompt_sha
select
    prompts.run_id, prompts.task_id, prompts.prompt_sha, prompts.benchmark, asked.prompt,
    instructed.system_prompt, prompts.n_rows
from staging.task_prompts as prompts
inner join raw.texts as asked
    on asked.record_id = prompts.prompt_record
inner join raw.texts as instructed
    on instructed.record_id = prompts.system_prompt_record
