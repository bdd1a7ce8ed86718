-- How often a scored task got each answer, and how often that answer passed.
-- grain: run_id, task_id, answer
with

answered as (

    select
        run_id,
        count(answer) as n_answers

    from main.rollouts

    where is_scored and is_pass is not null

    group by all

),

-- No answer is an answer too, and a wrong one.
final as (

    select
        rollouts.run_id,
        rollouts.task_id,
        rollouts.answer,
        count(*) as n_rollouts,
        count(*) filter (where rollouts.is_pass and rollouts.answer is not null) as n_passed

    from main.rollouts as rollouts

    inner join answered using (run_id)

    where rollouts.is_scored and answered.n_answers > 0

    group by rollouts.run_id, rollouts.task_id, rollouts.answer

)

select * from final
