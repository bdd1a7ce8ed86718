-- What the output of a rollout shows: its length, calls, text, and whether anything answered them.
-- grain: record_id
-- kind: table
with texts as (
    select distinct record_id
    from raw.events
    where
        kind = 'message'
        and coalesce(role, 'assistant') = 'assistant'
        and regexp_matches(words, '\S')
)
select
    record_id,
    -- The outline has one letter for each item of the output.
    length(outline) as n_events,
    length(regexp_replace(outline, '[^c]', '', 'g')) as n_tool_calls,
    -- A turn is a stretch of the model's own items between results and users' messages.
    length(regexp_replace(regexp_replace(outline, '[cmto]+', 'a', 'g'), '[^a]', '', 'g')) as n_turns,
    contains(outline, 'c') as has_call,
    case when outline is not null then record_id in (from texts) end as has_text,
    -- A tool's result, or someone else's word after the model's first.
    regexp_matches(outline, 'r|[cmto].*u') as has_feedback
from staging.records
where records.role = 'rollout'
