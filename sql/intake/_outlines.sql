-- What the outline of a rollout's output (a letter an item) tells of its length and its end.
-- grain: record_id
with outlines as (
    select record_id, outline
    from raw.records
    where outline is not null
)
select
    record_id,
    length(outline) as n_events,
    length(regexp_replace(outline, '[^c]', '', 'g')) as n_tool_calls,
    -- The last letter m, counted from 1.
    nullif(length(regexp_replace(outline, '[^m]*$', '')), 0) as last_message_seq,
    -- A turn is a stretch of the model's own items between results and users' messages.
    length(regexp_replace(regexp_replace(outline, '[cmto]+', 'a', 'g'), '[^a]', '', 'g'))
        as n_turns
from outlines
