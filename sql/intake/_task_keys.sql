-- Every row with the task it belongs to: by index, else by explicit id, else by content.
-- grain: record_id
-- kind: table
with
-- A row without an index still belongs to the indexed task that asks the same question.
indexed as (
    select
        run_id,
        prompt_sha,
        min(task_index) as task_index
    from staging.run_records as records
    where task_index is not null and prompt <> ''
    group by all
    having count(distinct task_index) = 1
),
stages as (
    select
        run_id,
        count(distinct stage_index) > 1 as has_stages,
        min(stage_index) as first_stage
    from staging.run_records as records
    group by all
),
records as (
    select * from staging.run_records where task_index is null
),
offered as (
    select
        run_id,
        record_id,
        unnest(map_entries(json_fields(ids))) as entry
    from records
),
task_id_fields_named as (
    select
        run_id,
        entry.key as name,
        count(json_as_text(entry.value)) as n_rows,
        count(json_as_number(entry.value)) as n_numbers
    from offered
    group by all
),
totals as (
    select
        run_id,
        count(*) as n_rows
    from records
    group by all
),
ranked as (
    select
        named.run_id,
        named.name,
        row_number() over (partition by named.run_id order by id_fields.rank) as rank
    from task_id_fields_named as named
    inner join totals using (run_id, n_rows)
    inner join raw.id_fields using (name)
    where named.n_numbers in (0, named.n_rows)
),
-- The field that names the tasks of a run whose rows have no index: the first that always does.
task_id_fields as (
    select run_id, name
    from ranked
    where rank = 1
),
named as (
    select
        records.record_id,
        records.run_id,
        coalesce(
            records.task_index,
            indexed.task_index,
            json_field(records.ids, id_fields.name),
            records.task_hash
        ) as task_name,
        case
            when coalesce(records.task_index, indexed.task_index) is not null then 'index'
            when id_fields.name is not null then id_fields.name
            else 'content'
        end as task_id_source,
        -- What names no stage, as inputs do, is where a task begins.
        case
            when stages.has_stages
                then '-stage' || coalesce(records.stage_index, stages.first_stage)
        end as stage_suffix
    from staging.run_records as records
    inner join stages using (run_id)
    left join indexed
        on records.task_index is null
        and indexed.run_id = records.run_id
        and indexed.prompt_sha = records.prompt_sha
    left join task_id_fields as id_fields
        on id_fields.run_id = records.run_id
)
select
    record_id,
    run_id,
    bounded_name(task_name) || coalesce(stage_suffix, '') as task_id,
    task_id_source
from named
