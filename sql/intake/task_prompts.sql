-- The questions each run really asked; from its inputs only where the task has no rollout.
-- grain: run_id, task_id, prompt_sha
-- kind: table
with
-- The question of every row: what its run asked, and for which task.
questions as (
    select
        keys.record_id,
        keys.run_id,
        run_benchmarks.benchmark,
        keys.task_id,
        keys.role,
        records.prompt_sha,
        records.prompt,
        records.system_prompt
    from staging.keys
    inner join staging.records using (record_id)
    inner join staging.run_benchmarks using (run_id)
    where keys.rank = 1 and keys.role in ('rollout', 'input')
),
recorded as (
    select run_id, task_id
    from questions
    where role = 'rollout'
    group by all
),
asked as (
    select questions.*
    from questions
    left join recorded using (run_id, task_id)
    where questions.role = 'rollout' or recorded.task_id is null
)
select
    run_id,
    task_id,
    prompt_sha,
    min(benchmark) as benchmark,
    min(prompt) as prompt,
    min(system_prompt) as system_prompt,
    count(*) as n_rows
from asked
group by run_id, task_id, prompt_sha
