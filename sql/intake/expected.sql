-- What should exist: every task and repeat a run was asked for; inferred ones have no repeat.
-- grain: run_id, task_id, rollout_index
-- looks at: run
-- kind: table
-- needs: staging.keys where role = 'input' | raw.expected_attempts | staging.run_settings where name = 'log_planned_attempts' | raw.expected_tasks | raw.settings where coalesce(n_expected_tasks, n_expected_repeats) is not null | (from staging.run_benchmarks offset 1)
with inputs as (
    select
        keys.run_id,
        keys.task_id,
        keys.rollout_index,
        keys.rank,
        records.file_kind
    from staging.keys
    inner join staging.records using (record_id)
    where keys.role = 'input'
),
-- Input rows merged into a rollout file are what is left to do; the rows beside them were done.
merged_only as (
    select run_id
    from inputs
    group by run_id
    having count(*) filter (file_kind = 'inputs') = 0
),
-- A failed attempt alone, perhaps of an earlier run, is no evidence of a task.
tasks as (
    select distinct
        benchmark,
        run_id,
        task_id
    from staging.keys
    inner join staging.run_benchmarks using (run_id)
    where role <> 'failure'
),
seen as (
    select distinct
        benchmark,
        task_id
    from tasks
),
-- Runs that record how many attempts they planned, and not which: a whole number for each task.
planned as (
    select
        run_id,
        n_repeats,
        n_attempts // n_repeats as n_tasks,
        from_json(patterns, '["VARCHAR"]') as patterns
    from (
        select
            run_id,
            max(try_cast(value as bigint)) filter (name = 'log_planned_attempts') as n_attempts,
            max(value) filter (name = 'log_planned_tasks') as patterns,
            coalesce(max(try_cast(value as bigint)) filter (name = 'num_repeats'), 1) as n_repeats
        from staging.run_settings
        group by all
    )
    where n_attempts % n_repeats = 0 and n_attempts <= 1000000
),
-- Its own tasks, and those that other runs of the benchmark have and its patterns mean, which exist: if these are
-- more than it planned, its patterns mean others.
planned_tasks as (
    select
        run_id,
        n_tasks,
        n_repeats,
        seen.task_id,
        tasks.task_id is not null as is_own,
        count(*) over (partition by run_id) <= n_tasks as is_meant
    from planned
    inner join staging.run_benchmarks using (run_id)
    inner join seen using (benchmark)
    left join tasks using (run_id, benchmark, task_id)
    where is_own or list_bool_or([seen.task_id glob pattern for pattern in patterns])
),
-- What each run was asked to do, from its input rows.
requested as (
    select
        run_id,
        task_id,
        rollout_index
    from inputs
    where rank = 1
    union
    select
        run_id,
        task_id,
        rollout_index
    from staging.keys
    semi join merged_only using (run_id)
    where role in ('rollout', 'failure')
    union
    -- What another harness says of itself.
    select
        run_keys.run_id,
        coalesce(paired.task_id, bounded_name(attempts.task)) as task_id,
        attempts.rollout_index
    from raw.expected_attempts as attempts
    inner join raw.files using (file_no)
    inner join staging.run_keys
        on run_keys.run_name = files.run_name
        and coalesce(run_keys.part = bounded_name(attempts.variant), attempts.variant is null)
    left join main.paired_tasks as paired
        on paired.run_id = run_keys.run_id
        and paired.recorded_task_id = bounded_name(attempts.task)
    union
    select
        run_id,
        task_id,
        unnest(range(n_repeats)) as rollout_index
    from (
        select
            run_id,
            n_repeats,
            unnest(
                list(task_id) || ['unseen-' || place for place in range(1, any_value(n_tasks) - count(*) + 1)]
            ) as task_id
        from planned_tasks
        where is_own or is_meant
        group by run_id, n_repeats
        having count(*) <= any_value(n_tasks)
    )
),
sizes as (
    select
        benchmark,
        count(*) as n_seen
    from seen
    group by all
),
unasked as (
    select
        run_id,
        benchmark,
        n_seen
    from staging.run_benchmarks
    inner join sizes using (benchmark)
    anti join requested using (run_id)
),
settings as (
    from raw.settings
    where (n_expected_tasks is not null or n_expected_repeats is not null) and not has_expected_names
),
-- The tasks each run should hold by the profile, where no input rows say it.
profiled as (
    select
        runs.run_id,
        bounded_name(expected_tasks.task_id) as task_id
    from staging.run_benchmarks as runs
    anti join requested using (run_id)
    cross join raw.expected_tasks
    union
    -- Where the profile gives repeats alone, a run's own tasks are what they are repeats of.
    select
        unasked.run_id,
        tasks.task_id
    from unasked
    inner join tasks using (benchmark)
    cross join settings
    where tasks.run_id = unasked.run_id or settings.n_expected_tasks is not null
    union
    -- Of tasks that are only counted, those no run has seen are numbered.
    select
        run_id,
        'unseen-' || unnest(range(1, greatest(settings.n_expected_tasks - n_seen, 0) + 1)) as task_id
    from unasked
    cross join settings
),
-- The repeats there are count first, then the lowest numbers that are free.
slots as (
    select
        run_id,
        task_id,
        rollout_index,
        min(priority) as priority
    from (
        select
            run_id,
            task_id,
            rollout_index,
            0 as priority
        from staging.rollout_keys
        semi join profiled using (run_id, task_id)
        union all
        select
            run_id,
            task_id,
            unnest(range(0, coalesce(settings.n_expected_repeats, 1))) as rollout_index,
            1 as priority
        from profiled
        cross join raw.settings
    ) as offered
    group by all
),
-- A run that covers less than half of its benchmark's tasks is a subset, not a run with losses.
covering as (
    select
        run_id,
        benchmark
    from unasked
    inner join tasks using (run_id, benchmark)
    cross join raw.settings
    where settings.n_expected_tasks is null
    group by run_id, benchmark, n_seen
    having 2 * count(*) >= n_seen
)
select
    *,
    'inputs' as source
from requested
union all
select
    run_id,
    task_id,
    rollout_index,
    'profile' as source
from slots
cross join raw.settings
window by_task as (partition by run_id, task_id order by priority, rollout_index)
qualify
    row_number() over by_task <= settings.n_expected_repeats
    or (settings.n_expected_repeats is null and (priority = 0 or row_number() over by_task = 1))
union all
-- Tasks that other runs of the benchmark have and this run, which says nothing of it, lacks.
select
    run_id,
    task_id,
    null as rollout_index,
    'inferred' as source
from covering
inner join seen using (benchmark)
anti join tasks using (run_id, task_id)
