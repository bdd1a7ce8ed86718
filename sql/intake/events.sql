-- What happened in a rollout, in order: one row an item of the response's flattened output.
-- grain: run_id, task_id, rollout_index, seq
-- looks at: rollout with staging.rollout_keys
with
-- Event 0 is the row itself, on its way to raw.records.
events as (from raw.events where seq > 0),
-- What the harness observed of a call, where it observed calls at all.
calls as (
    select
        record_id,
        'tool_call' as kind,
        call.call_id as call_id,
        min(call.status) as status,
        min(call.duration_s) as duration_s
    from (select record_id, unnest(tool_calls) as call from staging.observations)
    group by all
)
select
    keys.run_id,
    keys.task_id,
    keys.rollout_index,
    events.seq,
    events.kind,
    events.role,
    events.tool,
    events.call_id,
    events.arguments,
    coalesce(events.words, events.text) as text,
    events.is_error,
    calls.status,
    calls.duration_s
from events
inner join staging.rollout_keys as keys using (record_id)
left join calls using (record_id, kind, call_id)
