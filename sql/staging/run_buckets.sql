-- Tasks of a run by bucket, a column each, and those it lacks by inference.
-- grain: run_id
with

inferred as (

    select
        run_id,
        count(*) as n_tasks

    from main.expected

    where source = 'inferred'

    group by all

),

counted as (

    select
        run_id,
        max(n_tasks) filter (where bucket = 'always') as n_always,
        max(n_tasks) filter (where bucket = 'sometimes') as n_sometimes,
        max(n_tasks) filter (where bucket = 'never') as n_never,
        max(n_tasks) filter (where bucket = 'missing') as n_missing

    from main.bucket_counts

    group by all

),

final as (

    select
        counted.*,
        coalesce(inferred.n_tasks, 0) as n_inferred

    from counted

    left join inferred using (run_id)

)

select * from final
