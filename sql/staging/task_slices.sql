-- Fields that sort a benchmark's tasks into a few groups: constant in a task, few values over all.
-- grain: benchmark, task_id, name
-- kind: table
with

fields as (

    select * from staging.task_fields

),

settings as (

    select * from raw.settings

),

-- Ids, answers, outputs and verdicts are never slices, however few values they take; a true or
-- false of the row itself is a verdict, and one repeat could not show otherwise.
offered as (

    select fields.*

    from fields

    cross join settings

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

    from fields

    group by all

),

chosen as (

    select
        per_task.benchmark,
        per_task.name

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

final as (

    select
        per_task.benchmark,
        per_task.task_id,
        per_task.name,
        per_task.value

    from per_task

    inner join chosen using (benchmark, name)

    union all

    select
        benchmark,
        task_id,
        name,
        value

    from staging.profile_slices

)

select * from final
