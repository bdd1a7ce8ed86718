-- Tasks under whose id runs of a benchmark ask different questions, and what each run asks.
-- grain: run_id, task_id
with contested as (
    select benchmark, task_id
    from main.tasks
    where n_prompts > 1
),
-- Of several questions that one run asks for a task none can be held against another run's.
questions as (
    select
        prompts.benchmark,
        prompts.task_id,
        prompts.run_id,
        case when count(*) = 1 then min(prompts.prompt_sha) end as question
    from main.task_prompts as prompts
    inner join contested using (benchmark, task_id)
    group by prompts.benchmark, prompts.task_id, prompts.run_id
),
contradicted as (
    select benchmark, task_id
    from questions
    group by benchmark, task_id
    having min(question) < max(question)
)
select
    questions.run_id,
    questions.task_id,
    coalesce(questions.question, '') as question
from questions
inner join contradicted using (benchmark, task_id)
