-- The slices a profile asks for: the value of each field that the rows of a task agree on.
-- grain: benchmark, task_id, name
with

rows_read as (

    select
        run_benchmarks.benchmark,
        keys.task_id,
        slice_fields.name,
        bounded_name(json_as_text(
            row_field(records.verifier, records.reward_components, slice_fields.path)
        )) as value

    from staging.keys as keys

    inner join staging.run_benchmarks as run_benchmarks using (run_id)

    inner join staging.records as records using (record_id)

    cross join raw.slice_fields as slice_fields

    where keys.rank = 1 and keys.role in ('rollout', 'input')

),

-- What a task's rows say differently belongs to the attempt, not to the task.
final as (

    select
        benchmark,
        task_id,
        name,
        case when count(distinct value) = 1 then min(value) else '(varies)' end as value

    from rows_read

    where value is not null

    group by benchmark, task_id, name

)

select * from final
