-- Tasks that other runs of the benchmark have and this run, which says nothing of it, lacks.
-- grain: run_id, task_id
with

runs as (

    select * from staging.run_benchmarks

),

-- A failed attempt alone, perhaps of an earlier run, is no evidence of a task.
tasks as (

    select distinct
        runs.benchmark,
        keys.run_id,
        keys.task_id

    from staging.keys as keys

    inner join runs using (run_id)

    where keys.role <> 'failure'

),

union_tasks as (

    select distinct
        benchmark,
        task_id

    from tasks

),

union_sizes as (

    select
        benchmark,
        count(*) as n_tasks

    from union_tasks

    group by all

),

-- A run that covers less than half of the union is a subset, not a run with losses.
covering as (

    select
        tasks.run_id,
        tasks.benchmark

    from tasks

    inner join union_sizes using (benchmark)

    cross join raw.settings as settings

    where
        tasks.run_id not in (select run_id from staging.expected_inputs)
        and settings.n_expected_tasks is null

    group by tasks.run_id, tasks.benchmark, union_sizes.n_tasks

    having 2 * count(*) >= union_sizes.n_tasks

),

final as (

    select
        covering.run_id,
        union_tasks.task_id

    from covering

    inner join union_tasks using (benchmark)

    left join tasks
        on tasks.run_id = covering.run_id
        and tasks.task_id = union_tasks.task_id

    where tasks.task_id is null

)

select * from final
