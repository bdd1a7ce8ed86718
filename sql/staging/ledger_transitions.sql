-- The change of shared tasks by the buckets they went between.
-- grain: base, candidate, metric, line
with

tasks as (

    select
        task_values.base,
        task_values.candidate,
        task_values.metric,
        task_values.task_id,
        task_values.change,
        tasks.base_bucket,
        tasks.candidate_bucket

    from staging.comparison_values as task_values

    inner join main.comparison_tasks as tasks using (base, candidate, task_id)

    where
        task_values.change is not null
        and tasks.base_bucket is not null
        and tasks.candidate_bucket is not null

),

final as (

    select
        tasks.base,
        tasks.candidate,
        tasks.metric,
        tasks.base_bucket || ' to ' || tasks.candidate_bucket as line,
        steady_sum(tasks.change) / levels.n_common_tasks as amount,
        steady_sum(square(tasks.change)) as sum_of_squares,
        count(*) as n_tasks,
        largest_by(tasks.task_id, tasks.change) as example_task

    from tasks

    inner join staging.comparison_levels as levels using (base, candidate, metric)

    group by
        tasks.base,
        tasks.candidate,
        tasks.metric,
        tasks.base_bucket,
        tasks.candidate_bucket,
        levels.n_common_tasks

)

select * from final
