-- Each tool call of a rollout, and the result that answers it.
-- grain: record_id, seq
-- kind: table
with

-- Ids are used again by some agents: the second call of an id has the second result. What stands
-- before a call does not answer it.
events as (

    select
        events.record_id,
        cast(events.seq as bigint) as seq,
        events.kind,
        events.tool,
        nullif(events.call_id, '') as call_id,
        events.arguments,
        events.is_error,
        row_number() over (
            partition by events.record_id, events.kind, nullif(events.call_id, '')
            order by events.seq
        ) as nth

    from raw.events as events

    inner join staging.rollout_keys as keys using (record_id)

    where events.kind in ('tool_call', 'tool_result')

),

calls as (

    select * from events where kind = 'tool_call'

),

results as (

    select * from events where kind = 'tool_result'

),

final as (

    select
        calls.record_id,
        calls.seq,
        coalesce(calls.tool, '') as tool,
        calls.arguments,
        is_malformed(calls.arguments) as is_malformed,
        results.seq as result_seq,
        coalesce(results.is_error, false) as is_error

    from calls

    left join results
        on results.record_id = calls.record_id
        and results.call_id is not distinct from calls.call_id
        and results.nth = calls.nth
        and results.seq > calls.seq

)

select * from final
