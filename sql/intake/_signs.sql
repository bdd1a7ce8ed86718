-- What the output of a rollout shows: its length, calls, text, and whether anything answered them.
-- grain: record_id
-- kind: table
with records as (
    from staging.records where role = 'rollout'
),
-- The last message is at hand; of rows where it is blank, an earlier one may hold text.
earlier_texts as (
    select distinct record_id
    from raw.events
    inner join records using (record_id)
    where
        events.kind = 'message'
        and coalesce(events.role, 'assistant') = 'assistant'
        and not regexp_matches(coalesce(records.final_text, ''), '\S')
        and regexp_matches(records.outline, 'm.*m')
        and regexp_matches(events.text, '\S')
)
select
    record_id,
    -- The outline has one letter for each item of the output.
    length(outline) as n_events,
    length(regexp_replace(outline, '[^c]', '', 'g')) as n_tool_calls,
    -- A turn is a stretch of the model's own items between results and users' messages.
    length(regexp_replace(regexp_replace(outline, '[cmto]+', 'a', 'g'), '[^a]', '', 'g')) as n_turns,
    -- The last letter m, counted from 1.
    nullif(length(regexp_replace(outline, '[^m]*$', '')), 0) as last_message_seq,
    contains(outline, 'c') as has_call,
    case
        when outline is not null then
            regexp_matches(coalesce(final_text, ''), '\S')
            or record_id in (select earlier_texts.record_id from earlier_texts)
    end as has_text,
    -- A tool's result, or someone else's word after the model's first.
    regexp_matches(outline, 'r|[cmto].*u') as has_feedback
from records
