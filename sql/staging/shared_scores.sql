-- The scored tasks of runs that are not alone, numbered alike where the same runs scored them.
-- grain: run_id, task_id
with

benchmarks as (

    select benchmark

    from main.runs

    where pass_threshold is not null

    group by benchmark

    having count(*) > 1

),

-- Where runs ask different questions under one id, only those that ask the same are compared.
scored as (

    select
        outcomes.*,
        coalesce(contradicted.question, '') as question

    from main.task_outcomes as outcomes

    inner join benchmarks using (benchmark)

    left join staging.contradicted_tasks as contradicted using (run_id, task_id)

    where outcomes.n_scored > 0

),

shared as (

    select
        benchmark,
        task_id,
        question,
        string_agg(run_id, '/' order by run_id) as run_ids

    from scored

    group by all

),

numbered as (

    select
        benchmark,
        task_id,
        question,
        dense_rank() over (partition by benchmark order by run_ids) as part

    from shared

),

final as (

    select
        scored.run_id,
        scored.benchmark,
        scored.task_id,
        scored.n_scored,
        scored.n_passed,
        numbered.part

    from scored

    inner join numbered using (benchmark, task_id, question)

)

select * from final
