-- What happened in a rollout, in order: one row an item of the response's flattened output.
-- grain: run_id, task_id, rollout_index, seq
with
-- Event 0 is the row itself, on its way to raw.records.
events as (from raw.events where seq > 0)
select
    keys.run_id, keys.task_id, keys.rollout_index, events.seq, events.kind, events.role,
    events.tool, events.call_id, events.arguments,
    coalesce(events.words, events.text) as text,
    events.is_error
from events
inner join staging.rollout_keys as keys using (record_id)
