-- The last message of every row that has one: the event is its only copy.
-- grain: record_id
-- looks at: rollout
select
    records.record_id,
    events.words as final_text
from staging.records
inner join raw.events
    on events.record_id = records.record_id
    and events.seq = records.last_message_seq
