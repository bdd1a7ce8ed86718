-- Each tool call of a rollout, and the result that answers it.
-- grain: record_id, seq
-- kind: table
with events as (
    select
        events.record_id,
        cast(events.seq as bigint) as seq,
        events.kind = 'tool_result' as is_result,
        events.tool,
        case when events.call_id <> '' then text_key(events.call_id) end as id_key,
        events.arguments,
        coalesce(events.is_error, false) as is_error
    from raw.events
    inner join staging.rollout_keys as keys using (record_id)
    where events.kind in ('tool_call', 'tool_result')
),
-- An id that a call and a result share pairs them; what has none pairs in order.
identified as (
    select
        *,
        case when min(is_result) over by_id <> max(is_result) over by_id then id_key end as pair_key
    from events
    window by_id as (partition by record_id, id_key)
),
-- Ids are used again by some agents: the second call of an id has the second result.
numbered as (
    select
        *,
        row_number() over (partition by record_id, is_result, pair_key order by seq) as pair_no
    from identified
)
select
    calls.record_id,
    calls.seq,
    coalesce(calls.tool, '') as tool,
    calls.arguments,
    is_malformed(calls.arguments) as is_malformed,
    results.seq as result_seq,
    coalesce(results.is_error, false) as is_error
from numbered as calls
-- What stands before a call does not answer it.
left join numbered as results
    on results.record_id = calls.record_id
    and results.pair_key is not distinct from calls.pair_key
    and results.pair_no = calls.pair_no
    and results.seq > calls.seq
    and results.is_result
where not calls.is_result
