-- How an attempt failed: every mode it matches, one of them primary, each with its evidence.
-- grain: run_id, task_id, rollout_index, mode
-- kind: table
with wanted as (
    select keys.record_id, modes.seq
    from staging.failed_modes as modes
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
    inner join raw.events
        on events.record_id = wanted.record_id
        and events.seq = wanted.seq
)
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
from staging.failed_modes as modes
left join staging.rollout_keys as keys using (run_id, task_id, rollout_index)
left join shown
    on shown.record_id = keys.record_id
    and shown.seq = modes.seq
