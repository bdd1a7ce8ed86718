-- How many runs tried and passed the question that a run asked for a task, and the passes of others.
-- grain: run_id, task_id
-- kind: table
with
-- Where runs ask different questions under one id, each is counted among those that ask the same.
tried as (
    select
        outcomes.run_id,
        outcomes.benchmark,
        outcomes.task_id,
        outcomes.n_passed,
        coalesce(contradicted.question, '') as question
    from main.task_outcomes as outcomes
    left join staging.contradicted_tasks as contradicted
        on contradicted.run_id = outcomes.run_id
        and contradicted.task_id = outcomes.task_id
)
select
    run_id,
    task_id,
    count(*) over by_question as n_runs,
    count(*) filter (where n_passed > 0) over by_question as n_passing_runs,
    cast(sum(n_passed) over by_question - n_passed as bigint) as n_passed_elsewhere
from tried
window by_question as (partition by benchmark, task_id, question)
