-- Fields that sort a benchmark's tasks into a few groups: constant in a task, few values over all.
-- grain: benchmark, task_id, name
-- kind: table
with
-- A few rows of a task tell whether a field belongs to the task or to the attempt.
sampled as (
    select
        run_benchmarks.benchmark,
        keys.task_id,
        keys.record_id,
        row_number() over (
            partition by run_benchmarks.benchmark, keys.task_id, keys.role
            order by keys.rollout_index, keys.run_id
        ) as rank,
        keys.role,
        max(keys.role) over (partition by run_benchmarks.benchmark, keys.task_id) as best_role
    from staging.keys
    inner join staging.run_benchmarks using (run_id)
    where keys.rank = 1 and keys.role in ('rollout', 'input')
),
-- An input row speaks only for a task that has no rollout.
task_fields_chosen as (
    select *
    from sampled
    where rank <= 4 and role = best_role
),
task_fields_rows_read as (
    select
        chosen.benchmark,
        chosen.task_id,
        chosen.rank,
        json_fields(records.verifier) as fields
    from task_fields_chosen as chosen
    inner join staging.records using (record_id)
),
entries as (
    select
        benchmark,
        task_id,
        rank,
        '' as parent,
        unnest(map_entries(fields)) as entry
    from task_fields_rows_read as rows_read
    union all
    select
        benchmark,
        task_id,
        rank,
        'verifier_metadata.' as parent,
        unnest(map_entries(json_fields(fields['verifier_metadata']))) as entry
    from task_fields_rows_read as rows_read
    union all
    select
        benchmark,
        task_id,
        rank,
        'metadata.' as parent,
        unnest(map_entries(json_fields(fields['metadata']))) as entry
    from task_fields_rows_read as rows_read
),
-- Scalar fields of a task's rows, as candidates for slicing: the top level and its metadata.
task_fields as (
    select
        benchmark,
        task_id,
        rank,
        parent || entry.key as name,
        json_as_text(entry.value) as value
    from entries
    where json_as_text(entry.value) is not null
),
-- Ids, answers, outputs and verdicts are never slices, however few values they take; a true or
-- false of the row itself is a verdict, and one repeat could not show otherwise.
offered as (
    select fields.*
    from task_fields as fields
    cross join raw.settings
    where
        not settings.has_slices
        and length(value) between 1 and 60
        and length(name) <= 200
        and (value not in ('true', 'false') or regexp_matches(name, '[.]'))
        and not regexp_matches(value, '^-?\d+\.\d+$')
        and (
            not regexp_matches(
                lower(name),
                '(^|[._])(id|ids|uuid|uid|idx|index|hash|sha|seed|url|path)$'
                || '|answer|response|output|extract|predict|parsed|generat|generation|model|judg|verdict'
                || '|score|reward|accuracy|pass|correct|match|error|fail|solved|resolved|valid|status'
                || '|time|duration|latency|token|cost|turns?|exit|finish|terminated|truncated'
                || '|(^|[._])n_|num_|count'
            )
            -- What kind of answer is asked for is the task's.
            or regexp_matches(lower(name), '(^|[._])(input|output|answer)_(type|kind|format)$')
        )
),
per_task as (
    select
        benchmark,
        task_id,
        name,
        min(value) as value,
        count(distinct value) as n_values
    from offered
    group by all
),
sizes as (
    select
        benchmark,
        count(distinct task_id) as n_tasks
    from task_fields as fields
    group by all
),
chosen as (
    select per_task.benchmark, per_task.name
    from per_task
    inner join sizes using (benchmark)
    group by per_task.benchmark, per_task.name, sizes.n_tasks
    having
        max(per_task.n_values) = 1
        and count(distinct per_task.value) between 2 and 20
        and 2 * count(*) >= sizes.n_tasks
        -- A task a group is no grouping, unless the field is named as one.
        and (
            2 * count(distinct per_task.value) <= sizes.n_tasks
            or regexp_matches(
                lower(per_task.name),
                '(^|[._])(type|kind|category|level|difficulty|domain|subject|topic|language|format|split)$'
                || '|_(type|kind|category|level)$'
            )
        )
),
rows_read as (
    select
        run_benchmarks.benchmark,
        keys.task_id,
        slice_fields.name,
        bounded_name(json_as_text(
            row_field(records.verifier, records.reward_components, slice_fields.path)
        )) as value
    from staging.keys
    inner join staging.run_benchmarks using (run_id)
    inner join staging.records using (record_id)
    cross join raw.slice_fields
    where keys.rank = 1 and keys.role in ('rollout', 'input')
),
-- The slices a profile asks for: the value of each field that the rows of a task agree on.
-- What a task's rows say differently belongs to the attempt, not to the task.
profile_slices as (
    select
        benchmark,
        task_id,
        name,
        case when count(distinct value) = 1 then min(value) else '(varies)' end as value
    from rows_read
    where value is not null
    group by benchmark, task_id, name
)
select per_task.benchmark, per_task.task_id, per_task.name, per_task.value
from per_task
inner join chosen using (benchmark, name)
union all
select benchmark, task_id, name, value
from profile_slices
