-- Each tool call of a rollout, the result that answers it, and the error that the result reports.
-- grain: record_id, seq
-- kind: table
-- needs: raw.events where kind = 'tool_call'
with
-- Arguments are long: what is asked of them is asked here, and keys tell calls apart.
events as (
    select
        record_id,
        cast(seq as bigint) as seq,
        kind = 'tool_result' as is_result,
        case when call_id <> '' then hash(call_id) end as id_key,
        coalesce(is_error, false) as is_error,
        coalesce(tool, '') as tool,
        case when not is_result then hash(arguments) end as arguments_key,
        -- The order of keys and the spacing of arguments do not matter.
        case
            when not is_result
                then hash(coalesce(tool, ''), coalesce(try(json_normalize(arguments)), arguments))
        end as call_key,
        is_malformed(arguments) as is_malformed,
        case
            when regexp_matches(arguments, '^\s*\{') and json_valid(arguments)
                then json_keys(arguments)
        end as argument_names,
        -- Whom the call is about.
        case
            when contains(arguments, '@') then list_distinct(list_filter(
                regexp_extract_all(
                    arguments, '"([A-Za-z0-9][A-Za-z0-9._+-]*@[A-Za-z0-9-]+[.][A-Za-z0-9.-]+)"', 1
                ),
                lambda address: length(address) <= 100
            ))
        end as addresses
    from raw.events
    inner join staging.rollout_keys using (record_id)
    where kind in ('tool_call', 'tool_result')
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
),
messages as (
    select
        record_id,
        seq,
        error_message(text) as message
    from raw.events
    where kind = 'tool_result' and is_error
)
select
    calls.* exclude (is_result, id_key, pair_key, pair_no, is_error),
    results.seq as result_seq,
    coalesce(results.is_error, false) as is_error,
    left(messages.message, 300) as message,
    error_signature(messages.message) as signature,
    is_unknown_tool(messages.message, calls.tool) as is_unknown_tool
from numbered as calls
-- What stands before a call does not answer it.
left join numbered as results
    on results.record_id = calls.record_id
    and results.pair_key is not distinct from calls.pair_key
    and results.pair_no = calls.pair_no
    and results.seq > calls.seq
    and results.is_result
left join messages
    on messages.record_id = calls.record_id
    and messages.seq = results.seq
where not calls.is_result
