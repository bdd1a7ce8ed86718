-- Everything a rule may ask of an attempt: what it did, how it ended, and how its siblings fared.
-- grain: run_id, task_id, rollout_index
-- kind: table
with

attempts as (

    select * from staging.attempts

),

rollouts as (

    select * from main.rollouts

),

-- Of a rollout that was tried again with success the earlier attempts say nothing.
failed as (

    select
        run_id,
        task_id,
        rollout_index,
        failed.failure_class,
        failed.message

    from attempts

    inner join staging.failed_attempts as failed using (run_id, task_id, rollout_index)

    where attempts.outcome = 'failed attempt'

),

guesses as (

    select
        record_id,
        min(seq) as seq

    from staging.guessed_addresses

    group by all

),

tools as (

    select * from staging.tool_counts

),

benchmarks as (

    select
        run_benchmarks.run_id,
        core_actions.is_tool_call

    from staging.run_benchmarks as run_benchmarks

    inner join staging.core_actions as core_actions using (benchmark)

),

final as (

    select
        attempts.run_id,
        attempts.task_id,
        attempts.rollout_index,
        context.benchmark,
        attempts.outcome,
        attempts.is_scored,
        attempts.is_pass,
        attempts.reward,
        failed.failure_class,
        left(failed.message, 400) as failure_message,
        attempts.is_infrastructure,
        lost.lost_record_id is not null as is_unreadable,
        rollouts.finish_reason,
        rollouts.is_truncated,
        rollouts.has_output,
        rollouts.has_action,
        rollouts.has_feedback,
        benchmarks.is_tool_call as needs_tools,
        rollouts.n_events,
        rollouts.n_turns,
        rollouts.n_tool_calls,
        rollouts.n_tool_errors,
        coalesce(tools.calls_by_tool, map([], [])) as calls_by_tool,
        coalesce(calls.n_tools, 0) as n_tools,
        coalesce(calls.n_repeated_calls, 0) as n_repeated_calls,
        coalesce(calls.n_unanswered_calls, 0) as n_unanswered_calls,
        coalesce(calls.n_malformed_calls, 0) as n_malformed_calls,
        coalesce(errors.n_unknown_tool_calls, 0) as n_unknown_tool_calls,
        coalesce(calls.longest_error_streak, 0) as longest_error_streak,
        coalesce(calls.n_final_errors, 0) as n_final_errors,
        coalesce(calls.n_same_final_errors, 0) as n_same_final_errors,
        coalesce(calls.ends_in_error, false) as ends_in_error,
        coalesce(calls.n_counted_calls, 0) as n_counted_calls,
        errors.last_error_signature as error_signature,
        actions.n_expected_actions,
        actions.n_matched_actions,
        actions.n_unexpected_calls,
        habits.missing_call,
        habits.missing_argument,
        guesses.seq is not null as has_guessed_address,
        coalesce(regexp_matches(records.outline, '[cr]$'), false) as ends_on_tool,
        texts.n_final_characters,
        coalesce(texts.is_refusal, false) as is_refusal,
        coalesce(texts.is_raw_call, false) as is_raw_call,
        coalesce(texts.admits_failure, false) as admits_failure,
        texts.self_check,
        rollouts.answer is not null as has_answer,
        coalesce(verifier.is_unextracted, false) as is_unextracted,
        coalesce(verifier.is_reference, false) as is_reference,
        coalesce(verifier.is_within_reference, false) as is_within_reference,
        context.twin_reference is not null
            and coalesce(comparable(rollouts.answer) = comparable(context.twin_reference), false)
            and not coalesce(verifier.is_reference, false) as is_twin_reference,
        verifier.reference is not null as has_reference,
        verifier.verifier_text,
        verifier.verifier_error,
        verifier.sandbox_error,
        left(response_fault(records.response_error), 400) as model_error,
        verifier.exit_code,
        verifier.n_checks_passed,
        verifier.n_checks_failed,
        coalesce(verifier.is_timed_out, false)
            or coalesce(failed.failure_class = 'timeout_exceeded', false) as is_timed_out,
        coalesce(verifier.is_overrun, false)
            or coalesce(is_overrun(response_fault(records.response_error)), false) as is_overrun,
        rollouts.input_tokens,
        rollouts.output_tokens,
        rollouts.output_tokens / nullif(records.max_output_tokens, 0) as output_limit_rate,
        rollouts.duration_s,
        verdicts.twin as same_as_pass,
        context.n_attempts as n_task_attempts,
        context.n_scored as n_task_scored,
        context.n_passed as n_task_passed,
        context.n_passed_elsewhere,
        context.is_same_unexpected_call,
        context.is_limit_for_all,
        context.twin_task_id,
        calls.repeated_error_seq,
        calls.final_error_seq,
        calls.malformed_seq,
        errors.unknown_tool_seq,
        actions.unexpected_call_seq,
        habits.missing_argument_seq,
        guesses.seq as guessed_seq,
        texts.self_check_seq,
        texts.final_text_seq,
        -- The model's own last event: what others said after it is not its doing.
        coalesce(
            nullif(length(regexp_extract(records.outline, '^.*[cmto]')), 0), nullif(rollouts.n_events, 0)
        ) as last_seq

    from attempts

    inner join staging.task_context as context using (run_id, task_id)

    inner join benchmarks using (run_id)

    left join rollouts using (run_id, task_id, rollout_index)

    left join staging.records as records using (record_id)

    left join failed using (run_id, task_id, rollout_index)

    left join staging.lost_lines as lost using (run_id, task_id, rollout_index)

    left join tools using (record_id)

    left join staging.call_signs as calls using (record_id)

    left join staging.error_signs as errors using (record_id)

    left join staging.action_signs as actions using (record_id)

    left join staging.habit_signs as habits using (record_id)

    left join guesses using (record_id)

    left join staging.text_signs as texts using (record_id)

    left join staging.verifier_signs as verifier using (record_id)

    left join staging.verdict_twins as verdicts using (record_id)

)

select * from final
