-- The health checks that cannot run, for each pattern of evidence that some rollout lacks.
-- grain: lacks_turns, lacks_calls, lacks_references, lacks_cut_responses, lacks_order, lacks_sums, lacks_answers, lacks_response, lacks_output, lacks_status, lacks_tokens
-- kind: table
with

patterns as (

    select distinct
        lacks_turns,
        lacks_calls,
        lacks_references,
        lacks_cut_responses,
        lacks_order,
        lacks_sums,
        lacks_answers,
        lacks_response,
        lacks_output,
        lacks_status,
        lacks_tokens

    from staging.health_evidence

),

final as (

    select
        *,
        without_nulls([
            case when lacks_turns then 'agent_turn_hollow' end,
            case when lacks_calls then 'model_call_failed' end,
            case when lacks_calls then 'model_call_missing_token_counts' end,
            case when lacks_cut_responses then 'model_call_runaway_generation' end,
            case when lacks_calls then 'model_call_zero_completion_tokens' end,
            case when lacks_status then 'response_failed' end,
            case when lacks_output then 'response_no_output' end,
            case when lacks_response then 'response_placeholder' end,
            case when lacks_tokens then 'response_zero_tokens' end,
            case when lacks_order then 'rollout_ended_on_failed_model_call' end,
            case when lacks_turns then 'rollout_missing_agent_turns' end,
            case when lacks_sums then 'rollout_token_count_mismatch' end,
            case when lacks_references then 'trajectory_capture_mismatch' end,
            case when lacks_answers then 'trajectory_response_mismatch' end
        ]) as unobserved_checks

    from patterns

)

select * from final
