-- What is wrong with a policy model's own calls, one by one and at the end of the rollout.
-- grain: record_id, check_id, subject
with

calls as (

    select
        record_id,
        place,
        subject,
        is_failed,
        is_cut and not has_words as is_runaway,
        completion_tokens = 0 as is_zero,
        concat_ws(
            ' and ',
            case when prompt_tokens is null then 'prompt' end,
            case when completion_tokens is null then 'completion' end
        ) as missing,
        -- Where all of a model's calls failed their order does not matter.
        is_failed
            and rank_from_last = 1
            and (n_timed = n_of_model or n_failed = n_of_model) as is_failed_end,
        concat_ws(', ', 'HTTP status ' || status_code, error_category, response_status) as outcome

    from staging.owned_calls

),

found as (

    select
        record_id,
        'model_call_failed' as check_id,
        subject,
        'the model call failed' as message,
        outcome as evidence

    from calls

    where is_failed

    union all

    select
        record_id,
        'rollout_ended_on_failed_model_call' as check_id,
        subject,
        'the last call of the model failed' as message,
        outcome as evidence

    from calls

    where is_failed_end

    union all

    select
        record_id,
        'model_call_missing_token_counts' as check_id,
        subject,
        'the model call has no count of its ' || missing || ' tokens' as message,
        null as evidence

    from calls

    where missing <> ''

    union all

    select
        record_id,
        'model_call_zero_completion_tokens' as check_id,
        subject,
        'the model call reports zero completion tokens' as message,
        null as evidence

    from calls

    where is_zero

    union all

    select
        record_id,
        'model_call_runaway_generation' as check_id,
        subject,
        'the model call ended at its length limit with neither text nor reasoning' as message,
        null as evidence

    from calls

    where is_runaway

),

-- Two calls may bear one id.
final as (

    select
        record_id,
        check_id,
        subject,
        min(message) as message,
        min(evidence) as evidence

    from found

    group by record_id, check_id, subject

)

select * from final
