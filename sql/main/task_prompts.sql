-- The questions each run really asked; from its inputs only where the task has no rollout.
-- grain: run_id, task_id, prompt_sha
-- kind: table
with

questions as (

    select * from staging.questions

),

recorded as (

    select
        run_id,
        task_id

    from questions

    where role = 'rollout'

    group by all

),

asked as (

    select questions.*

    from questions

    left join recorded using (run_id, task_id)

    where questions.role = 'rollout' or recorded.task_id is null

),

final as (

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

)

select * from final
