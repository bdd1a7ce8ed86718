-- What a run asked for a task; of several questions the one that most of its rows hold.
-- grain: run_id, task_id
with ranked as (
    select
        run_id,
        task_id,
        prompt,
        row_number() over (partition by run_id, task_id order by n_rows desc, prompt_sha) as rank
    from main.task_prompts
)
select run_id, task_id, prompt
from ranked
where rank = 1
