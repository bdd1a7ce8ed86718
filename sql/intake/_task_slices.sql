-- Fields that sort a benchmark's tasks into a few groups: constant in a task, few values over all.
-- grain: benchmark, task_id, name
-- kind: table
with keys as (
    select run_benchmarks.benchmark, keys.*
    from staging.keys
    inner join staging.run_benchmarks using (run_id)
    where keys.rank = 1 and keys.role in ('rollout', 'input')
),
-- A few rows of a task tell whether a field belongs to the task or to the attempt; an input row speaks
-- only for a task that has no rollout.
sampled as (
    select benchmark, task_id, record_id
    from keys
    where not (select has_slices from raw.settings)
    qualify row_number() over (
        partition by benchmark, task_id order by role desc, rollout_index, run_id
    ) <= 4 and role = max(role) over (partition by benchmark, task_id)
),
rows_read as (
    select benchmark, task_id, verifier
    from sampled
    inner join raw.texts using (record_id)
),
-- The top level of a row, and its metadata.
entries as (
    select benchmark, task_id, '' as parent, {'key': key, 'value': value} as entry
    from (
        select
            benchmark, task_id,
            unnest(json_keys(verifier)) as key,
            unnest(json_extract(verifier, '$.*')) as value
        from rows_read
    )
    union all
    select benchmark, task_id, parent, unnest(map_entries(json_fields(fields))) as entry
    from (
        select
            benchmark, task_id,
            unnest(['verifier_metadata.', 'metadata.']) as parent,
            unnest(json_extract(verifier, ['$.verifier_metadata', '$.metadata'])) as fields
        from rows_read
    )
),
scalars as materialized (
    select benchmark, task_id, parent || entry.key as name, json_as_text(entry.value) as value
    from entries
    where json_as_text(entry.value) is not null
    union all
    -- Whether a task expects that something is changed, or that it is refused.
    select
        benchmark, task_id,
        'task_kind' as name,
        if(bool_or(is_write and expected_no is not null), 'act', 'refuse') as value
    from main.expected_calls
    inner join staging.run_benchmarks using (run_id)
    where not (select has_slices from raw.settings)
    group by all
),
-- Ids, answers, outputs and verdicts are never slices, however few values they take; a true or
-- false of the row itself is a verdict, and one repeat could not show otherwise.
names as (
    select distinct name
    from scalars
    where
        length(name) <= 200
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
    select benchmark, task_id, name, min(value) as value, count(distinct value) as n_values
    from scalars
    semi join names using (name)
    -- What differs between repeats tells of the attempt.
    anti join (select distinct benchmark, field as name from main.record_fields
        inner join staging.run_benchmarks using (run_id) where scope = 'outcome') using (benchmark, name)
    where
        length(value) between 1 and 60
        and (value not in ('true', 'false') or contains(name, '.'))
        and not regexp_matches(value, '^-?\d+\.\d+$')
    group by all
),
sizes as (
    select benchmark, count(distinct task_id) as n_tasks
    from scalars
    group by all
),
chosen as (
    select benchmark, name
    from per_task
    inner join sizes using (benchmark)
    group by benchmark, name, n_tasks
    having
        max(n_values) = 1
        and count(distinct value) between 2 and 20
        and 2 * count(*) >= n_tasks
        -- One task per group is no grouping, unless the field is named as one.
        and (
            2 * count(distinct value) <= n_tasks
            or regexp_matches(
                lower(name),
                '(^|[._])(type|kind|category|level|difficulty|domain|subject|topic|language|format|split)$'
                || '|_(type|kind|category|level)$'
            )
        )
),
-- The slices a profile asks for.
profiled as (
    select
        benchmark, task_id,
        bounded_name(slice_fields.name) as name,
        bounded_name(json_as_text(
            row_field(verifier, records.reward_components, slice_fields.path)
        )) as value
    from raw.slice_fields
    cross join keys
    inner join staging.records using (record_id)
    inner join raw.texts using (record_id)
)
select benchmark, task_id, name, value
from per_task
semi join chosen using (benchmark, name)
union all
-- What a task's rows say differently belongs to the attempt, not to the task.
select
    benchmark, task_id,
    name,
    case when count(distinct value) = 1 then min(value) else '(varies)' end as value
from profiled
where value is not null
group by all
