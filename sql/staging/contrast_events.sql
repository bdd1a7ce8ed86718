-- What stands where two rollouts part: the beginning of the event, and how long it is.
-- grain: record_id, seq
-- kind: table
with

places as (

    select
        record_id,
        shown_seq as seq

    from staging.contrast_pairs

    union

    select
        passing_record_id as record_id,
        passing_shown_seq as seq

    from staging.contrast_pairs

),

texts as (

    select
        events.record_id,
        events.seq,
        case
            when events.kind = 'tool_call' then concat_ws(' ', events.tool, events.arguments)
            else coalesce(events.text, '')
        end as text

    from raw.events as events

    inner join places using (record_id, seq)

),

final as (

    select
        record_id,
        seq,
        left(text, 300) as beginning,
        length(text) as n_chars

    from texts

)

select * from final
