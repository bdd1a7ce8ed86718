-- Tasks that a run records under another id than its benchmark's other runs: paired by question.
-- A question has the id that it has in the run whose ids most runs share; if that run does not ask it, in the next.
-- An id that another question has already ends in `~` and six digits of a hash.
-- grain: run_id, task_id
-- looks at: run
-- kind: table
-- needs: (from staging.run_keys offset 1)
with run_questions as (
    select
        run_id,
        task_id,
        case
            when count(distinct coalesce(same.question, records.prompt_sha)) = 1 and bool_and(records.has_prompt)
                then min(coalesce(same.question, records.prompt_sha))
        end as question,
        bool_and(keys.task_id_source = 'content') as is_unnamed
    from staging.recorded_keys as keys
    inner join staging.records using (record_id)
    left join staging.questions as same using (prompt_sha)
    where
        keys.rank = 1
        and keys.role in ('rollout', 'input')
        and (select count(*) > 1 from staging.run_keys)
    group by all
),
tasks as (
    select
        benchmarks.benchmark,
        run_questions.*,
        -- A question that a run asks under several ids cannot be paired.
        question is not null and count(*) over (partition by run_id, question) = 1 as has_one_id
    from run_questions
    inner join staging.run_benchmarks as benchmarks using (run_id)
),
-- Questions that have several ids need one, and all others of their benchmarks are listed beside them. Two names
-- for one question may be two tasks, unless they are numbers, or a run has one of them for another question;
-- what names a task by its question is no name.
questions as (
    select
        *,
        count(*) over (partition by benchmark, question, task_id) as n_agreeing,
        min(task_id) over same_question < max(task_id) over same_question
        and (
            bool_and(try_cast(task_id as bigint) is not null) over same_question
            or bool_or(is_contradicted) over same_question
            or bool_or(is_unnamed) over same_question
        ) as needs_one_id
    from (
        select
            *,
            min(question) over same_id < max(question) over same_id as is_contradicted
        from tasks
        where has_one_id
        window same_id as (partition by benchmark, task_id)
    )
    window same_question as (partition by benchmark, question)
),
-- The ids that most runs share come first, then those of the run with most tasks; hashes come last.
numberings as (
    select
        run_id,
        row_number() over (
            order by bool_and(is_unnamed), sum(n_agreeing) desc, count(*) desc, run_id
        ) as place
    from questions
    group by run_id
),
-- The id that each question should have: of the run that comes first.
named as (
    select
        benchmark,
        question,
        needs_one_id,
        arg_min(task_id, place) as wanted,
        min(place) as place
    from questions
    inner join numberings using (run_id)
    group by all
),
-- Where two questions should have one id, the second has a part of its hash behind it.
new_ids as (
    select
        benchmark,
        question,
        wanted || case
            when row_number() over (partition by benchmark, wanted order by place, question) > 1
                then '~' || left(question, 6)
            else ''
        end as new_id
    from named
    where needs_one_id
),
-- A run most of whose shared questions have other ids: its ids mean nothing to the others.
renumbered as (
    select run_id
    from questions
    inner join new_ids using (benchmark, question)
    group by all
    having 2 * count(*) filter (new_ids.new_id <> questions.task_id) > count(*)
),
placed as (
    select
        tasks.*,
        new_ids.new_id,
        renumbered.run_id is not null as is_renumbered,
        min(tasks.question) over same_id < max(tasks.question) over same_id as is_contradicted
    from tasks
    left join new_ids
        on tasks.has_one_id
        and new_ids.benchmark = tasks.benchmark
        and new_ids.question = tasks.question
    left join renumbered on renumbered.run_id = tasks.run_id
    where tasks.benchmark in (select new_ids.benchmark from new_ids)
    window same_id as (partition by tasks.benchmark, tasks.task_id)
),
-- Tasks that lose their id, because another question of their run now has it.
displaced as (
    select
        others.benchmark,
        others.run_id,
        others.task_id,
        others.question
    from placed as others
    inner join placed as taking
        on taking.run_id = others.run_id
        and taking.new_id = others.task_id
    where others.new_id is null
),
renamed as (
    select
        benchmark,
        run_id,
        task_id,
        case
            when new_id is not null then new_id
            -- Of a run that numbers otherwise, an id that another has for another question is not its task.
            when is_renumbered and has_one_id and is_contradicted
                then task_id || '~' || left(question, 6)
            when has_one_id and (benchmark, question) in (select (benchmark, question) from displaced)
                then task_id || '~' || left(question, 6)
            when
                (run_id, task_id) in (select (run_id, task_id) from displaced)
                or (is_renumbered and question is null)
                then task_id || '~' || left(md5(run_id), 6)
            else task_id
        end as new_id
    from placed
)
select
    run_id,
    bounded_name(new_id) as task_id,
    task_id as recorded_task_id,
    benchmark
from renamed
where new_id <> task_id
order by run_id, task_id
