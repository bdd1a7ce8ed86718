-- The answer of each scored repeat of a task whose majority was reported, by its place.
-- grain: run_id, shard, field, task_id, place
with

wanted as (

    select distinct
        run_id,
        shard,
        field

    from staging.reported_figures

    where kind = 'majority'

),

answers as (

    select
        run_id,
        shard,
        record_id,
        json_field(verifier, 'extracted_answer') as answer

    from staging.reported_rows

    where run_id in (select run_id from wanted) and role = 'rollout'

),

final as (

    select
        numbers.run_id,
        numbers.shard,
        numbers.field,
        numbers.task_id,
        numbers.value,
        answers.answer,
        row_number() over (
            partition by numbers.run_id, numbers.shard, numbers.field, numbers.task_id
            order by numbers.rollout_index
        ) as place

    from staging.reported_numbers as numbers

    inner join answers using (run_id, shard, record_id)

    inner join wanted using (run_id, shard, field)

)

select * from final
