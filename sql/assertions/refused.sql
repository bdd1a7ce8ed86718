-- Inputs that cannot be analyzed as asked: a row here ends the analysis, and says why.
-- grain: check_name, subject
-- looks at: across
with
pooled as (
    select
        keys.run_id,
        keys.task_id,
        records.source_file,
        records.model,
        -- A repeat without a number may be any.
        coalesce(records.rollout_index <> keys.rollout_index, true) as is_moved
    from staging.keys
    inner join staging.records using (record_id)
    inner join raw.files on files.path = records.source_file
    where files.is_pooled and keys.role = 'rollout' and keys.rank = 1
),
tasks as (
    select
        run_id,
        task_id,
        count(distinct source_file) as n_files,
        min(source_file) as first_file,
        max(source_file) as last_file,
        bool_or(is_moved) as is_moved
    from pooled
    group by all
),
runs as (
    select
        run_id,
        count(distinct source_file) as n_files,
        count(distinct model) as n_models,
        string_agg(distinct model, ', ' order by model) as models
    from pooled
    group by all
)
-- Files of other tasks are shards, files of the same tasks are repeats; a mixture may be a rerun.
select
    'refused_pooled_tasks' as check_name,
    run_id as subject,
    count(*) filter (tasks.n_files > 1) || ' of ' || count(*) || ' tasks are in several of its '
    || any_value(runs.n_files) || ' files with the same repeats, for example '
    || arg_min(task_id, task_id) filter (tasks.n_files > 1) || ' in '
    || arg_min(first_file, task_id) filter (tasks.n_files > 1) || ' and '
    || arg_min(last_file, task_id) filter (tasks.n_files > 1) as message,
    'Pool files that share no attempt, or files that all have the same tasks: repeats of each.' as hint
from tasks
inner join runs using (run_id)
group by run_id
having bool_or(tasks.is_moved and tasks.n_files > 1) and min(tasks.n_files) < any_value(runs.n_files)
union all by name
select
    'refused_pooled_models' as check_name,
    run_id as subject,
    'its files are of ' || n_models || ' models: ' || models as message,
    'Give each model its own --run NAME=PATH.' as hint
from runs
where n_models > 1
order by all
