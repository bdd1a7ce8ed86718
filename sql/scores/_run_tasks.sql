-- What a run's task has to do with others: the runs that ask the same, their passes, its group.
-- grain: run_id, task_id
-- looks at: task
-- kind: table
with questions as (
    select
        benchmark,
        task_id,
        run_id,
        -- The question that most of the run's rows hold.
        arg_min(prompt_sha, (-n_rows, prompt_sha)) as prompt_sha,
        -- Of several that one run asks for a task none can be compared with another run's, and nor can one
        -- that is not recorded.
        case when count(distinct question) = 1 and bool_and(has_prompt) then min(question) end as question
    from staging.task_prompts
    group by all
),
-- Tasks under whose id runs of a benchmark ask different questions, and what each run asks.
contradicted as (
    select
        run_id,
        task_id,
        coalesce(question, '') as question
    from questions
    semi join (
        select
            benchmark,
            task_id
        from questions
        group by all
        having min(question) < max(question)
    ) as contested using (benchmark, task_id)
),
-- Which tasks belong together, where the profile names the field that says so.
groups as (
    select
        run_benchmarks.benchmark,
        keys.task_id,
        -- A task that names no group is a group of its own.
        coalesce(
            min(json_as_text(row_field(verifier, records.reward_components, settings.group_path))),
            chr(31) || keys.task_id
        ) as task_group
    from (from raw.settings where group_path is not null) as settings
    cross join staging.keys
    inner join staging.run_benchmarks using (run_id)
    inner join staging.records using (record_id)
    inner join raw.texts using (record_id)
    where keys.rank = 1 and keys.role in ('rollout', 'input')
    group by run_benchmarks.benchmark, keys.task_id
)
select
    run_id,
    task_id,
    groups.task_group,
    questions.prompt_sha,
    contradicted.question,
    count(*) over same_question as n_runs,
    count(if(outcomes.n_passed > 0, 1, null)) over same_question as n_passing_runs,
    cast(sum(outcomes.n_passed) over same_question - outcomes.n_passed as bigint)
        as n_passed_elsewhere
from main.task_outcomes as outcomes
left join questions using (run_id, task_id)
left join contradicted using (run_id, task_id)
left join groups on groups.benchmark = outcomes.benchmark and groups.task_id = outcomes.task_id
-- Where runs ask different questions under one id, each is counted among those that ask the same.
window same_question as (
    partition by outcomes.benchmark, outcomes.task_id, coalesce(contradicted.question, '')
)
