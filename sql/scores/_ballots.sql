-- How many tasks of a run have votes split in one way: for each answer how many, how many right.
-- grain: run_id, ballot
-- kind: table
with answered as (
    select
        run_id,
        count(answer) as n_answers
    from main.rollouts
    where is_scored and is_pass is not null
    group by all
),
-- How often a scored task got each answer, and how often that answer passed.
-- No answer is an answer too, and a wrong one.
answer_counts as (
    select
        rollouts.run_id,
        rollouts.task_id,
        rollouts.answer,
        count(*) as n_rollouts,
        count(*) filter (where rollouts.is_pass and rollouts.answer is not null) as n_passed
    from main.rollouts
    inner join answered using (run_id)
    where rollouts.is_scored and answered.n_answers > 0
    group by rollouts.run_id, rollouts.task_id, rollouts.answer
),
votes as (
    select
        run_id,
        task_id,
        cast(sum(n_rollouts) as bigint) as n_scored,
        string_agg(n_rollouts || ':' || n_passed, ' ' order by n_rollouts, n_passed) as ballot
    from answer_counts
    group by run_id, task_id
)
select
    run_id,
    ballot,
    min(n_scored) as n_scored,
    count(*) as n_tasks
from votes
group by run_id, ballot
