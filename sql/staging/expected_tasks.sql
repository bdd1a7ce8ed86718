-- The tasks each run should hold by the profile, where no input rows say it.
-- grain: run_id, task_id
with

settings as (

    select * from raw.settings where n_expected_tasks is not null or n_expected_repeats is not null

),

runs as (

    select *

    from staging.run_benchmarks

    where run_id not in (select run_id from staging.expected_inputs)

),

-- A failed attempt alone, perhaps of an earlier run, is no evidence of a task.
recorded as (

    select distinct
        run_benchmarks.benchmark,
        keys.run_id,
        keys.task_id

    from staging.keys as keys

    inner join staging.run_benchmarks as run_benchmarks using (run_id)

    where keys.role <> 'failure'

),

seen as (

    select distinct
        benchmark,
        task_id

    from recorded

),

-- Of tasks that are only counted, those no run has seen are numbered.
unseen as (

    select
        benchmark,
        unnest(range(1, greatest(n_expected_tasks - n_seen, 0) + 1)) as number

    from (

        select
            seen.benchmark,
            settings.n_expected_tasks,
            count(*) as n_seen

        from seen

        cross join settings

        where not settings.has_expected_names

        group by all

    ) as counted

),

final as (

    select
        runs.run_id,
        expected_tasks.task_id

    from runs

    cross join raw.expected_tasks as expected_tasks

    union

    -- Where the profile gives repeats alone, a run's own tasks are what they are repeats of.
    select
        runs.run_id,
        recorded.task_id

    from runs

    cross join settings

    inner join recorded
        on recorded.benchmark = runs.benchmark
        and (recorded.run_id = runs.run_id or settings.n_expected_tasks is not null)

    where not settings.has_expected_names

    union

    select
        runs.run_id,
        'unseen-' || unseen.number as task_id

    from runs

    inner join unseen using (benchmark)

)

select * from final
