-- What the last words of a rollout, and its last tool result, look like.
-- grain: record_id
-- kind: table
with

results as (

    select
        record_id,
        last_result_seq

    from staging.call_signs

    where last_result_seq is not null

),

checks as (

    select
        events.record_id,
        cast(events.seq as bigint) as self_check_seq,
        self_check(right(events.text, 400)) as self_check

    from raw.events as events

    inner join results
        on results.record_id = events.record_id
        and results.last_result_seq = events.seq

),

final as (

    select
        rollouts.record_id,
        length(rollouts.final_text) as n_final_characters,
        outlines.last_message_seq as final_text_seq,
        is_refusal(left(rollouts.final_text, 600)) as is_refusal,
        is_raw_call(right(rollouts.final_text, 2000)) as is_raw_call,
        admits_failure(right(rollouts.final_text, 600)) as admits_failure,
        checks.self_check,
        case when checks.self_check is not null then checks.self_check_seq end as self_check_seq

    from main.rollouts as rollouts

    left join staging.outlines as outlines using (record_id)

    left join checks using (record_id)

)

select * from final
