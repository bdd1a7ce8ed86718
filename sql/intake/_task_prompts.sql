-- The questions each run really asked, and a row that holds each; of inputs for lack of rollouts.
-- grain: run_id, task_id, prompt_sha
-- looks at: task
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
        records.has_prompt,
        records.outline is null as is_bare,
        texts.system_prompt
    from staging.keys
    inner join staging.records using (record_id)
    inner join raw.texts using (record_id)
    inner join staging.run_benchmarks using (run_id)
    where keys.rank = 1 and keys.role in ('rollout', 'input')
),
recorded as (
    select
        run_id,
        task_id
    from questions
    where role = 'rollout'
    group by all
),
row_questions as (
    select questions.*
    from questions
    left join recorded using (run_id, task_id)
    where questions.role = 'rollout' or recorded.task_id is null
)
select
    run_id,
    task_id,
    prompt_sha,
    -- The same for prompts that differ in white space only.
    min(coalesce(same.question, row_questions.prompt_sha)) as question,
    min(benchmark) as benchmark,
    -- Their hashes are equal, and so are their prompts; instructions may still differ. Without a
    -- transcript another harness may have recorded no words.
    arg_min(record_id, (is_bare, record_id)) as prompt_record,
    arg_min(record_id, (system_prompt, record_id)) as system_prompt_record,
    bool_and(has_prompt) as has_prompt,
    count(*) as n_rows
from row_questions
left join staging.questions as same using (prompt_sha)
group by run_id, task_id, prompt_sha
