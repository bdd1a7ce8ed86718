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
            partition by run_benchmarks.benchmark, keys.task_id, keys.role
            order by keys.rollout_index, keys.run_id
        ) as rank,
        keys.role,
        max(keys.role) over (partition by run_benchmarks.benchmark, keys.task_id) as best_role

    from staging.keys as keys

    inner join staging.run_benchmarks as run_benchmarks using (run_id)

    where keys.rank = 1 and keys.role in ('rollout', 'input')

),

-- An input row speaks only for a task that has no rollout.
chosen as (

    select *

    from sampled

    where rank <= 4 and role = best_role

),

rows_read as (

    select
        chosen.benchmark,
        chosen.task_id,
        chosen.rank,
        json_fields(records.verifier) as fields

    from chosen

    inner join staging.records as records using (record_id)

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
