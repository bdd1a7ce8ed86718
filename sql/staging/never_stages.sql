-- The stage at which most rollouts of a task that never passes stop, and the answer all of them give.
-- grain: run_id, task_id
with

counted as (

    select
        run_id,
        task_id,
        last_stage,
        count(*) as n_rollouts,
        row_number() over (
            partition by run_id, task_id order by count(*) desc, last_stage_no
        ) as rank

    from staging.never_rollouts

    group by run_id, task_id, last_stage_no, last_stage

),

answers as (

    select
        run_id,
        task_id,
        case when count(distinct answer) = 1 and count(answer) = count(*) then left(min(answer), 200) end
            as shared_answer

    from staging.never_rollouts

    group by all

),

final as (

    select
        counted.run_id,
        counted.task_id,
        counted.last_stage,
        counted.n_rollouts,
        answers.shared_answer

    from counted

    inner join answers using (run_id, task_id)

    where counted.rank = 1

)

select * from final
