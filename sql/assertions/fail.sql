-- What ends an analysis: `fail_` is a bug in blade, `refused_` are inputs that cannot be analyzed as asked.
-- grain: check_name, subject
-- looks at: across
-- kind: table
with
others as (
    select
        records.source_file,
        count(*) as n_other
    from staging.keys
    inner join staging.records using (record_id)
    where
        (keys.rank = 1 or keys.role = 'failure')
        and records.file_kind <> case keys.role
            when 'input' then 'inputs' when 'failure' then 'failures' else 'rollouts' end
    group by all
),
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
-- A run id that a citation or a folder could not carry.
select
    'fail_citation_ambiguous' as check_name,
    run_id as subject,
    'is not a safe and unique run id' as message,
    '' as hint
from main.runs
where
    not regexp_matches(run_id, '^[A-Za-z0-9_-][A-Za-z0-9._-]*$')
    or lower(run_id) in (select lower(run_id) from main.runs group by all having count(*) > 1)
union all
-- A line of a file read row by row that is neither row, reject, other nor blank.
select
    'fail_line_lost',
    artifacts.path,
    'unaccounted lines: ' || (artifacts.n_other - coalesce(others.n_other, 0)),
    ''
from main.artifacts
left join others on others.source_file = artifacts.path
where
    artifacts.kind in ('rollouts', 'inputs', 'failures', 'labels')
    and artifacts.n_other <> coalesce(others.n_other, 0)
union all
-- Files of other tasks are shards, files of the same tasks are repeats; a mixture may be a rerun.
select
    'refused_pooled_tasks',
    run_id,
    count(*) filter (tasks.n_files > 1) || ' of ' || count(*) || ' tasks are in several of its '
    || any_value(runs.n_files) || ' files with the same repeats, for example '
    || arg_min(task_id, task_id) filter (tasks.n_files > 1) || ' in '
    || arg_min(first_file, task_id) filter (tasks.n_files > 1) || ' and '
    || arg_min(last_file, task_id) filter (tasks.n_files > 1),
    'Pool files that share no attempt, or files that all have the same tasks: repeats of each.'
from tasks
inner join runs using (run_id)
group by run_id
having bool_or(tasks.is_moved and tasks.n_files > 1) and min(tasks.n_files) < any_value(runs.n_files)
union all
select
    'refused_pooled_models',
    run_id,
    'its files are of ' || n_models || ' models: ' || models,
    'Give each model its own --run NAME=PATH.'
from runs
where n_models > 1
