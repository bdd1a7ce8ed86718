-- What the commonest answer of a task's first k scored repeats is worth; ties are averaged.
-- grain: run_id, shard, field, k, task_id
-- kind: table
with

wanted as (

    select distinct
        run_id,
        shard,
        field,
        k

    from staging.reported_figures

    where kind = 'majority'

),

answers as (

    select * from staging.reported_answers

),

votes as (

    select
        wanted.run_id,
        wanted.shard,
        wanted.field,
        wanted.k,
        answers.task_id,
        answers.answer,
        answers.value,
        count(answers.answer) as n_votes

    from wanted

    inner join answers
        on answers.run_id = wanted.run_id
        and answers.shard = wanted.shard
        and answers.field = wanted.field
        and answers.place <= wanted.k

    group by all

),

counted as (

    select
        *,
        max(n_votes) over (partition by run_id, shard, field, k, task_id) as most_votes

    from votes

),

final as (

    select
        run_id,
        shard,
        field,
        k,
        task_id,
        case
            when max(most_votes) = 0 then 0.0
            else mean_of(ascending(case when n_votes = most_votes then value end))
        end as worth,
        max(most_votes) > 0 as is_answered

    from counted

    group by run_id, shard, field, k, task_id

)

select * from final
