-- The rollouts, and the rows that asked for them, of every part of a run that reported figures.
-- grain: run_id, shard, record_id
with

scopes as (

    select * from staging.reported_scopes

),

keys as (

    select * from staging.keys where rank = 1 and role in ('rollout', 'input')

),

records as (

    select * from staging.records

),

final as (

    select
        scopes.run_id,
        scopes.shard,
        keys.record_id,
        keys.role,
        records.file_kind,
        keys.task_id,
        keys.rollout_index,
        records.reward,
        records.mask_sample,
        records.usage,
        records.verifier

    from scopes

    inner join keys using (run_id)

    inner join records
        on records.record_id = keys.record_id
        and coalesce(scopes.seed, records.seed, -1) = coalesce(records.seed, -1)
        and coalesce(scopes.chunk, records.chunk, -1) = coalesce(records.chunk, -1)

)

select * from final
