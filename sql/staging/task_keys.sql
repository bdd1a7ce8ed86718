-- Every row with the task it belongs to: by index, else by explicit id, else by content.
-- grain: record_id
-- kind: table
with

records as (

    select * from staging.run_records

),

id_fields as (

    select * from staging.task_id_fields

),

-- A row without an index still belongs to the indexed task that asks the same question.
indexed as (

    select
        run_id,
        prompt_sha,
        min(task_index) as task_index

    from records

    where task_index is not null and prompt <> ''

    group by all

    having count(distinct task_index) = 1

),

stages as (

    select
        run_id,
        count(distinct stage_index) > 1 as has_stages,
        min(stage_index) as first_stage

    from records

    group by all

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

    from records

    inner join stages using (run_id)

    left join indexed
        on records.task_index is null
        and indexed.run_id = records.run_id
        and indexed.prompt_sha = records.prompt_sha

    left join id_fields
        on id_fields.run_id = records.run_id

),

final as (

    select
        record_id,
        run_id,
        bounded_name(task_name) || coalesce(stage_suffix, '') as task_id,
        task_id_source

    from named

)

select * from final
