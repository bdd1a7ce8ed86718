-- Each tool call of a rollout, the result that answers it, and the error that the result reports.
-- grain: record_id, seq
-- looks at: rollout
-- kind: table
-- needs: raw.events where kind = 'tool_call'
with events as (
    select
        record_id,
        cast(seq as bigint) as seq,
        kind = 'tool_result' as is_result,
        case when call_id <> '' then hash(call_id) end as id_key,
        coalesce(is_error, false) as is_error
    from raw.events
    where kind in ('tool_call', 'tool_result')
),
-- What has each id, most often one call and its result.
ids as (
    select
        record_id,
        id_key,
        count(*) = 2 and min(is_result) <> max(is_result) as is_pair,
        min(is_result) <> max(is_result) as is_shared,
        min(seq) filter (not is_result) as seq,
        min(seq) filter (is_result) as result_seq,
        bool_or(is_error) filter (is_result) as is_error
    from events
    where id_key is not null
    group by all
),
-- Ids are used again by some agents: the second call of an id has the second result. What shares none
-- pairs in order.
numbered as (
    select
        events.*,
        if(is_shared, id_key, null) as pair_key,
        row_number() over (partition by record_id, is_result, pair_key order by events.seq) as pair_no
    from events
    left join ids using (record_id, id_key)
    where not coalesce(is_pair, false)
),
answers as (
    select
        record_id,
        seq,
        if(result_seq > seq, result_seq, null) as result_seq,
        is_error and result_seq > seq as is_error
    from ids
    where is_pair
    union all
    select
        calls.record_id,
        calls.seq,
        results.seq as result_seq,
        coalesce(results.is_error, false) as is_error
    from numbered as calls
    -- What comes before a call does not answer it.
    left join numbered as results
        on results.record_id = calls.record_id
        and results.pair_key is not distinct from calls.pair_key
        and results.pair_no = calls.pair_no
        and results.seq > calls.seq
        and results.is_result
    where not calls.is_result
),
messages as (
    select
        *,
        error_excerpt(message) as excerpt
    from (
        select
            record_id,
            seq,
            error_message(text) as message
        from raw.events
        where kind = 'tool_result' and is_error
    )
),
arguments as (
    select
        record_id,
        cast(seq as bigint) as seq,
        coalesce(tool, '') as tool,
        arguments,
        coalesce(regexp_matches(arguments, '^\s*\{') and json_valid(arguments), false) as is_object
    from raw.events
    where kind = 'tool_call'
),
-- Arguments are long: what is asked of them is asked here, and keys tell calls apart.
calls as (
    select
        record_id,
        seq,
        tool,
        hash(arguments) as arguments_key,
        -- The order of keys and the spacing of arguments do not matter.
        hash(tool, coalesce(try(json_normalize(arguments)), arguments)) as call_key,
        -- No JSON object; some calls have no arguments at all. The reader lets commas before a closing
        -- bracket pass, which no tool's does: they are looked for outside of strings.
        case
            when not is_object
                then coalesce(regexp_matches(arguments, '\S') and not regexp_matches(arguments, '^\s*null\s*$'), false)
            when regexp_matches(arguments, ',\s*[\]}]') then regexp_matches(
                regexp_replace(arguments, '"(?:[^"\\]|\\.)*"', '""', 'g'), ',\s*[\]}]'
            )
            else false
        end as is_malformed
    from arguments
)
select
    calls.*,
    answers.result_seq,
    answers.is_error,
    left(messages.message, 300) as message,
    signature_of(messages.excerpt) as signature,
    left(messages.excerpt, 160) as excerpt,
    is_unknown_tool(messages.message, calls.tool) as is_unknown_tool
from calls
inner join answers using (record_id, seq)
left join messages
    on messages.record_id = calls.record_id
    and messages.seq = answers.result_seq
