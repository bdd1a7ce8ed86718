-- Tasks that lack a field which nearly all tasks of their benchmark have.
-- grain: benchmark, task_id
with counted as (
    select
        benchmark,
        count(*) as n_tasks
    from main.tasks
    group by all
),
usual as (
    select slices.benchmark, slices.name
    from staging.task_slices as slices
    inner join counted using (benchmark)
    group by slices.benchmark, slices.name, counted.n_tasks
    having count(*) * 20 >= counted.n_tasks * 19 and count(*) < counted.n_tasks
)
select
    tasks.benchmark,
    tasks.task_id,
    min(usual.name) as name
from main.tasks
inner join usual using (benchmark)
left join staging.task_slices as slices using (benchmark, task_id, name)
where slices.value is null
group by all
