-- Scalar fields of a task's rows, as candidates for slicing: the top level and its metadata.
-- grain: benchmark, task_id, name, rank
with

-- A few rows of a task tell whether a field belongs to the task or to the attempt.
sampled as (

    select
        run_benchmarks.benchmark,
        keys.task_id,
        keys.record_id,
        row_number() over (
            partition by run_benchmarks.benchmark, keys.task_id
            order by keys.rollout_index, keys.run_id
        ) as rank

    from staging.rollout_keys as keys

    inner join staging.run_benchmarks as run_benchmarks using (run_id)

),

rows_read as (

    select
        sampled.benchmark,
        sampled.task_id,
        sampled.rank,
        json_fields(records.verifier) as fields

    from sampled

    inner join staging.records as records using (record_id)

    where sampled.rank <= 6

),

entries as (

    select
        benchmark,
        task_id,
        rank,
        '' as parent,
        unnest(map_entries(fields)) as entry

    from rows_read

    union all

    select
        benchmark,
        task_id,
        rank,
        'verifier_metadata.' as parent,
        unnest(map_entries(json_fields(fields['verifier_metadata']))) as entry

    from rows_read

    union all

    select
        benchmark,
        task_id,
        rank,
        'metadata.' as parent,
        unnest(map_entries(json_fields(fields['metadata']))) as entry

    from rows_read

),

final as (

    select
        benchmark,
        task_id,
        rank,
        parent || entry.key as name,
        json_as_text(entry.value) as value

    from entries

    where json_as_text(entry.value) is not null

)

select * from final
