-- The calls of the rollouts to be contrasted, each with the result it got.
-- grain: record_id, seq
-- kind: table
with

rollouts as (

    select
        record_id,
        task_no

    from staging.contrast_rollouts

    where is_acting

),

events as (

    select
        rollouts.task_no,
        events.record_id,
        events.seq,
        events.kind = 'tool_result' as is_result,
        events.tool,
        case when events.kind = 'tool_call' then call_key(events.tool, events.arguments) end as call,
        text_key(nullif(events.call_id, '')) as id_key,
        coalesce(events.is_error, false) as is_error

    from raw.events as events

    inner join rollouts using (record_id)

    where events.kind in ('tool_call', 'tool_result')

),

-- An id that a call and a result share pairs them; what has none pairs with the next in order.
identified as (

    select
        *,
        case when min(is_result) over by_id <> max(is_result) over by_id then id_key end as pair_key

    from events

    window by_id as (partition by record_id, id_key)

),

-- Ids come again in some formats: then the first call has the first result, and so on.
numbered as (

    select
        *,
        row_number() over (partition by record_id, pair_key, is_result order by seq) as pair_no

    from identified

),

final as (

    select
        calls.record_id,
        calls.seq,
        calls.tool,
        calls.call,
        results.seq as result_seq,
        results.is_error,
        -- Made more than once in all repeats: only then is there anything to compare it with.
        count(*) over (partition by calls.task_no, calls.call) > 1 as is_comparable

    from numbered as calls

    left join numbered as results
        on results.record_id = calls.record_id
        and results.pair_key is not distinct from calls.pair_key
        and results.pair_no = calls.pair_no
        and results.seq > calls.seq
        and results.is_result

    where not calls.is_result

)

select * from final
