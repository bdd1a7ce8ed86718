-- Tasks of which two rows claim to be one rollout and have different rewards.
-- grain: run_id, task_id
with

claims as (

    select
        keys.run_id,
        keys.task_id,
        keys.rollout_index,
        min(records.reward) as lowest,
        max(records.reward) as highest,
        min(records.source_file || ':' || records.source_line) as place

    from staging.keys as keys

    inner join staging.records as records using (record_id)

    -- A numbered attempt corrects the one before it.
    where keys.role = 'rollout' and keys.attempt_index is null

    group by all

    having count(*) > 1

),

final as (

    select
        run_id,
        task_id,
        min(place) as place

    from claims

    where lowest < highest

    group by all

)

select * from final
