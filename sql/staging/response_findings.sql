-- What the plain response of a rollout shows where no trajectory shows more.
-- grain: record_id, check_id
with

-- Turns and calls that were recorded say more, and their checks speak then.
rollouts as (

    select
        rollouts.record_id,
        rollouts.is_scored,
        rollouts.status,
        rollouts.has_output,
        rollouts.output_tokens,
        rollouts.final_text,
        coalesce(facts.has_turns, false) as has_turns,
        coalesce(facts.n_owned > 0, false) as has_calls

    from main.rollouts as rollouts

    left join staging.trajectory_facts as facts using (record_id)

),

-- Few rollouts have neither text nor call: only of those is more read.
silent as (

    select
        rollouts.record_id,
        rollouts.has_turns,
        rollouts.has_calls,
        coalesce(
            json_field_count(records.usage, 'output_tokens'),
            json_field_count(records.usage, 'completion_tokens')
        ) as usage_tokens

    from rollouts

    inner join staging.records as records using (record_id)

    where not rollouts.has_output and not regexp_matches(records.outline, '[to]')

),

final as (

    select
        record_id,
        'response_no_output' as check_id,
        'the response holds no text, no reasoning and no call' as message,
        null as evidence

    from silent

    where not has_turns

    union all

    select
        rollouts.record_id,
        'response_zero_tokens' as check_id,
        'the response reports zero output tokens' as message,
        null as evidence

    from rollouts

    left join silent using (record_id)

    -- Usage of all zeros is a count only where nothing was written.
    where not rollouts.has_calls and coalesce(rollouts.output_tokens, silent.usage_tokens) = 0

    union all

    select
        record_id,
        'response_failed' as check_id,
        'the response says that it failed' as message,
        'status ' || status as evidence

    from rollouts

    where not has_calls and status in ('failed', 'error', 'cancelled')

    union all

    select
        record_id,
        'response_placeholder' as check_id,
        'the final text stands in for an answer, and was scored' as message,
        left(final_text, 200) as evidence

    from rollouts

    where is_scored and is_placeholder(final_text)

)

select * from final
