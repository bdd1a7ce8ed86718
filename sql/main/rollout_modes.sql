-- How an attempt failed: every mode it matches, one of them primary, each with its evidence.
-- grain: run_id, task_id, rollout_index, mode
-- kind: table
with

modes as (

    select * from staging.failed_modes

),

wanted as (

    select
        keys.record_id,
        modes.seq

    from modes

    inner join staging.rollout_keys as keys using (run_id, task_id, rollout_index)

    where modes.seq is not null

    group by all

),

shown as (

    select
        wanted.record_id,
        wanted.seq,
        left(case when events.kind = 'tool_call' then events.arguments else events.text end, 240)
            as snippet,
        length(case when events.kind = 'tool_call' then events.arguments else events.text end)
            as n_characters

    from wanted

    inner join raw.events as events
        on events.record_id = wanted.record_id
        and events.seq = wanted.seq

),

final as (

    select
        modes.run_id,
        modes.task_id,
        modes.rollout_index,
        modes.mode,
        modes.rule,
        modes.is_primary,
        modes.seq as evidence_seq,
        coalesce(shown.snippet, modes.told) as snippet,
        coalesce(shown.n_characters, modes.n_told) as n_characters,
        modes.cause,
        modes.severity,
        modes.intervention

    from modes

    left join staging.rollout_keys as keys using (run_id, task_id, rollout_index)

    left join shown
        on shown.record_id = keys.record_id
        and shown.seq = modes.seq

)

select * from final
