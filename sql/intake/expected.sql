-- What should exist: every task and repeat a run was asked for; inferred ones have no repeat.
-- grain: run_id, task_id, rollout_index
-- kind: table
with settings as (
    select * from raw.settings where n_expected_tasks is not null or n_expected_repeats is not null
),
keys as (
    select
        keys.run_id,
        keys.task_id,
        keys.rollout_index,
        keys.role,
        keys.rank,
        records.file_kind
    from staging.keys
    inner join staging.records using (record_id)
),
-- Input rows merged into a rollout file are what is left to do; the rows beside them were done.
merged_only as (
    select run_id
    from keys
    where role = 'input'
    group by run_id
    having count(*) filter (where file_kind = 'inputs') = 0
),
-- What each run was asked to do, from its input rows.
expected_inputs as (
    select run_id, task_id, rollout_index
    from keys
    where role = 'input' and rank = 1
    union
    select keys.run_id, keys.task_id, keys.rollout_index
    from keys
    inner join merged_only using (run_id)
    where keys.role in ('rollout', 'failure')
),
runs as (
    select *
    from staging.run_benchmarks
    where run_id not in (select run_id from expected_inputs)
),
-- A failed attempt alone, perhaps of an earlier run, is no evidence of a task.
expected_tasks_recorded as (
    select distinct run_benchmarks.benchmark, keys.run_id, keys.task_id
    from staging.keys
    inner join staging.run_benchmarks using (run_id)
    where keys.role <> 'failure'
),
seen as (
    select distinct benchmark, task_id
    from expected_tasks_recorded as recorded
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
-- The tasks each run should hold by the profile, where no input rows say it.
expected_tasks as (
    select runs.run_id, expected_tasks.task_id
    from runs
    cross join raw.expected_tasks
    union
    -- Where the profile gives repeats alone, a run's own tasks are what they are repeats of.
    select runs.run_id, recorded.task_id
    from runs
    cross join settings
    inner join expected_tasks_recorded as recorded
        on recorded.benchmark = runs.benchmark
        and (recorded.run_id = runs.run_id or settings.n_expected_tasks is not null)
    where not settings.has_expected_names
    union
    select
        runs.run_id,
        'unseen-' || unseen.number as task_id
    from runs
    inner join unseen using (benchmark)
),
recorded as (
    select keys.run_id, keys.task_id, keys.rollout_index
    from staging.rollout_keys as keys
    inner join expected_tasks as tasks using (run_id, task_id)
),
-- The repeats there are count first, then the lowest numbers that are free.
slots as (
    select
        run_id,
        task_id,
        rollout_index,
        0 as priority
    from recorded
    union all
    select
        tasks.run_id,
        tasks.task_id,
        tasks.rollout_index,
        1 as priority
    from (
        select
            tasks.run_id,
            tasks.task_id,
            unnest(range(0, coalesce(settings.n_expected_repeats, 1))) as rollout_index
        from expected_tasks as tasks
        cross join raw.settings
    ) as tasks
    left join recorded using (run_id, task_id, rollout_index)
    where recorded.run_id is null
),
ranked as (
    select
        slots.*,
        row_number() over (partition by run_id, task_id order by priority, rollout_index) as rank
    from slots
),
-- What the profile says each run should hold, where no input rows say it.
expected_profile as (
    select ranked.run_id, ranked.task_id, ranked.rollout_index
    from ranked
    cross join raw.settings
    where
        ranked.rank <= settings.n_expected_repeats
        or (settings.n_expected_repeats is null and (ranked.priority = 0 or ranked.rank = 1))
),
-- A failed attempt alone, perhaps of an earlier run, is no evidence of a task.
tasks as (
    select distinct runs.benchmark, keys.run_id, keys.task_id
    from staging.keys
    inner join staging.run_benchmarks as runs using (run_id)
    where keys.role <> 'failure'
),
union_tasks as (
    select distinct benchmark, task_id
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
    select tasks.run_id, tasks.benchmark
    from tasks
    inner join union_sizes using (benchmark)
    cross join raw.settings
    where
        tasks.run_id not in (select run_id from expected_inputs)
        and settings.n_expected_tasks is null
    group by tasks.run_id, tasks.benchmark, union_sizes.n_tasks
    having 2 * count(*) >= union_sizes.n_tasks
),
-- Tasks that other runs of the benchmark have and this run, which says nothing of it, lacks.
inferred_missing as (
    select covering.run_id, union_tasks.task_id
    from covering
    inner join union_tasks using (benchmark)
    left join tasks
        on tasks.run_id = covering.run_id
        and tasks.task_id = union_tasks.task_id
    where tasks.task_id is null
)
select
    run_id,
    task_id,
    rollout_index,
    'inputs' as source
from expected_inputs
union all
select
    run_id,
    task_id,
    rollout_index,
    'profile' as source
from expected_profile
union all
select
    run_id,
    task_id,
    cast(null as bigint) as rollout_index,
    'inferred' as source
from inferred_missing
