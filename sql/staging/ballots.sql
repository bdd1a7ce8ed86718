-- How many tasks of a run have votes split in one way: for each answer how many, how many right.
-- grain: run_id, ballot
-- kind: table
with

votes as (

    select
        run_id,
        task_id,
        cast(sum(n_rollouts) as bigint) as n_scored,
        string_agg(n_rollouts || ':' || n_passed, ' ' order by n_rollouts, n_passed) as ballot

    from staging.answer_counts

    group by run_id, task_id

),

final as (

    select
        run_id,
        ballot,
        min(n_scored) as n_scored,
        count(*) as n_tasks

    from votes

    group by run_id, ballot

)

select * from final
