-- What the output of a rollout shows: calls, text, and whether anything answered them.
-- grain: record_id
-- kind: table
with records as (
    select record_id, outline, final_text
    from staging.records
    where role = 'rollout'
),
-- The last message is at hand; of rows where it is blank, an earlier one may hold text.
earlier_texts as (
    select record_id
    from raw.events
    inner join records using (record_id)
    where
        events.kind = 'message'
        and coalesce(events.role, 'assistant') = 'assistant'
        and not regexp_matches(coalesce(records.final_text, ''), '\S')
        and regexp_matches(records.outline, 'm.*m')
        and regexp_matches(events.text, '\S')
    group by record_id
)
select
    records.record_id,
    regexp_matches(records.outline, 'c') as has_call,
    case
        when records.outline is not null then
            regexp_matches(coalesce(records.final_text, ''), '\S')
            or earlier_texts.record_id is not null
    end as has_text,
    -- A tool's result, or someone else's word after the model's first.
    regexp_matches(records.outline, 'r|[cmto].*u') as has_feedback
from records
left join earlier_texts using (record_id)
