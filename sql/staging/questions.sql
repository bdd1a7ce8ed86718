-- The question of every row: what its run asked, and for which task.
-- grain: record_id
with

final as (

    select
        keys.record_id,
        keys.run_id,
        run_benchmarks.benchmark,
        keys.task_id,
        keys.role,
        records.prompt_sha,
        records.prompt,
        records.system_prompt

    from staging.keys as keys

    inner join staging.records as records using (record_id)

    inner join staging.run_benchmarks as run_benchmarks using (run_id)

    where keys.rank = 1 and keys.role in ('rollout', 'input')

)

select * from final
