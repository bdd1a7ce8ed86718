-- How an attempt failed: every listed mode that it has, the first of which is primary.
-- grain: run_id, task_id, rollout_index, mode
-- looks at: task
-- kind: table
-- needs: staging.attempts where coalesce(not is_pass, not is_scored)
with bearing as (
    select
        run_id,
        task_id,
        rollout_index,
        mode,
        kind,
        reason,
        seq,
        failure_message,
        -- What an attempt does goes with failing, and is no way to fail.
        row_number() over (
            partition by run_id, task_id, rollout_index
            order by reason = 'behaviour', rank, mode
        ) = 1 and reason <> 'behaviour' as is_primary
    from staging.attempt_modes
    where is_failure
),
others as (
    select
        run_id,
        task_id,
        rollout_index,
        'no shared sign' as mode,
        'none' as kind,
        'none' as reason,
        true as is_primary
    from staging.attempts
    anti join (from bearing where is_primary) using (run_id, task_id, rollout_index)
    where coalesce(not is_pass, not is_scored)
),
every as (
    from bearing
    union all by name
    from others
),
shown as (
    select
        run_id,
        task_id,
        rollout_index,
        seq,
        case when kind = 'tool_call' then arguments else coalesce(words, text) end as text
    from raw.events
    inner join (
        select distinct
            run_id,
            task_id,
            rollout_index,
            record_id,
            seq
        from every
        inner join staging.rollout_keys using (run_id, task_id, rollout_index)
        where seq is not null
    ) using (record_id, seq)
)
select
    run_id,
    task_id,
    rollout_index,
    every.mode,
    every.kind,
    every.reason,
    every.is_primary,
    every.seq as evidence_seq,
    left(coalesce(shown.text, every.failure_message), 240) as snippet,
    length(coalesce(shown.text, every.failure_message)) as n_characters
from every
left join shown using (run_id, task_id, rollout_index, seq)
