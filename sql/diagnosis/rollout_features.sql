-- Everything a rule may ask of an attempt: what it did, how it ended, and how its siblings fared.
-- grain: run_id, task_id, rollout_index
-- kind: table
with
-- Of a rollout that was tried again with success the earlier attempts say nothing.
failed as (
    select run_id, task_id, rollout_index, failure_class, failure_message as message
    from staging.attempts
    where outcome = 'failed attempt'
),
-- Rejected lines that still say which rollout they were, where that rollout has no row.
lost_lines as (
    select distinct run_id, task_id, rollout_index
    from (
        select
            run_id,
            regexp_extract(snippet, '"_ng_task_index"\s*:\s*"?([^",}\s]+)', 1) as task_id,
            try_cast(regexp_extract(snippet, '"_ng_rollout_index"\s*:\s*(\d{1,9})', 1) as bigint)
                as rollout_index
        from raw.rejects
        inner join raw.files on files.file_no = rejects.record_id // 1099511627776
        inner join staging.run_keys using (run_name)
        where files.kind = 'rollouts'
    )
),
-- A report of the agent's own tests: whether the last line of figures has failures in it.
checks as (
    select
        record_id,
        right(text, 400) as report,
        case
            when regexp_matches(report, '(?i)\b[1-9]\d* (failed|errors?)\b|\bFAILED \(|\bFAIL(ED)?[=:] ?[1-9]|\b(tests?|checks?) failed\b|\bnot all (tests|checks)\b')
                then 'failed'
            when regexp_matches(report, '(?i)\b[1-9]\d* passed\b|\ball (tests|checks) pass|\bOK \(\d+ tests?|\bRan \d+ tests?.{0,40}\bOK\b|\bPASS(ED)?[=:] ?[1-9]')
                then 'passed'
        end as self_check
    from raw.events
    semi join (select record_id, last_result_seq as seq from staging.call_signs) using (record_id, seq)
),
-- All that a rollout did and said: without a call or last words there is nothing to compare. Under
-- one number two runs may ask different things, or expect different answers.
behaviours as (
    select
        benchmark, task_id,
        prompt_sha,
        record_id,
        is_pass,
        hash(calls_key, coalesce(answer, final_text)) as behaviour,
        run_id || '/' || rollout_id as citation
    from staging.rollouts
    left join staging.final_texts using (record_id)
    inner join staging.run_benchmarks using (run_id)
    left join staging.call_signs using (record_id)
    semi join (
        select
            benchmark,
            task_id
        from staging.task_context
        group by all
        having sum(n_passed) > 0 and sum(n_failed) > 0
    ) using (benchmark, task_id)
    where
        is_scored
        and (calls_key is not null or regexp_matches(coalesce(answer, final_text), '\S'))
),
-- Failing rollouts that did and said exactly what a passing one of the same task did.
verdict_twins as (
    select
        record_id,
        passing.same_as_pass
    from behaviours
    inner join (
        select
            benchmark, task_id,
            prompt_sha,
            behaviour,
            min(citation) as same_as_pass
        from behaviours
        where is_pass
        group by all
    ) as passing using (benchmark, task_id, prompt_sha, behaviour)
    where not is_pass
)
select
    run_id, task_id, rollout_index,
    context.benchmark,
    attempts.outcome,
    attempts.is_scored,
    attempts.is_pass,
    attempts.reward,
    failed.failure_class,
    left(failed.message, 400) as failure_message,
    attempts.is_infrastructure,
    not attempts.is_recorded and lost_lines.run_id is not null as is_unreadable,
    rollouts.finish_reason,
    rollouts.is_truncated,
    rollouts.has_output,
    rollouts.has_action,
    rollouts.has_feedback,
    run_benchmarks.is_tool_call as needs_tools,
    rollouts.n_events,
    rollouts.n_turns,
    rollouts.n_tool_calls,
    rollouts.n_tool_errors,
    coalesce(calls.calls_by_tool, map([], [])) as calls_by_tool,
    cast(coalesce(cardinality(calls.calls_by_tool), 0) as bigint) as n_tools,
    coalesce(calls.n_repeated_calls, 0) as n_repeated_calls,
    coalesce(calls.n_unanswered_calls, 0) as n_unanswered_calls,
    coalesce(calls.n_malformed_calls, 0) as n_malformed_calls,
    coalesce(calls.n_unknown_tool_calls, 0) as n_unknown_tool_calls,
    coalesce(calls.longest_error_streak, 0) as longest_error_streak,
    coalesce(calls.n_final_errors, 0) as n_final_errors,
    coalesce(calls.n_same_final_errors, 0) as n_same_final_errors,
    coalesce(calls.ends_in_error, false) as ends_in_error,
    coalesce(calls.n_counted_calls, 0) as n_counted_calls,
    calls.error_signature,
    calls.n_expected_actions,
    calls.n_matched_actions,
    calls.n_unexpected_calls,
    calls.missing_call,
    calls.missing_argument,
    calls.guessed_seq is not null as has_guessed_address,
    coalesce(regexp_matches(records.outline, '[cr]$'), false) as ends_on_tool,
    signs.n_final_characters,
    coalesce(signs.is_refusal, false) as is_refusal,
    coalesce(signs.is_raw_call, false) as is_raw_call,
    coalesce(signs.admits_failure, false) as admits_failure,
    checks.self_check,
    rollouts.answer is not null as has_answer,
    coalesce(signs.is_unextracted, false) as is_unextracted,
    coalesce(signs.is_reference, false) as is_reference,
    coalesce(signs.is_within_reference, false) as is_within_reference,
    case
        when context.twin_reference is null or signs.is_reference then false
        else coalesce(comparable(rollouts.answer) = comparable(context.twin_reference), false)
    end as is_twin_reference,
    signs.reference is not null as has_reference,
    signs.verifier_text,
    signs.verifier_error,
    signs.sandbox_error,
    signs.model_error,
    signs.exit_code,
    signs.n_checks_passed,
    signs.n_checks_failed,
    coalesce(signs.is_timed_out, false)
        or coalesce(failed.failure_class = 'timeout_exceeded', false) as is_timed_out,
    coalesce(signs.is_overrun, false) as is_overrun,
    rollouts.input_tokens,
    rollouts.output_tokens,
    rollouts.output_tokens / nullif(records.max_output_tokens, 0) as output_limit_rate,
    rollouts.duration_s,
    verdict_twins.same_as_pass,
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
    calls.unknown_tool_seq,
    calls.unexpected_call_seq,
    calls.missing_argument_seq,
    calls.guessed_seq,
    case when checks.self_check is not null then calls.last_result_seq end as self_check_seq,
    signs.final_text_seq,
    -- The model's own last event: what others said after it is not its doing.
    coalesce(
        nullif(length(regexp_extract(records.outline, '^.*[cmto]')), 0), nullif(rollouts.n_events, 0)
    ) as last_seq
from staging.attempts
inner join staging.task_context as context using (run_id, task_id)
inner join staging.run_benchmarks using (run_id)
left join staging.rollouts using (run_id, task_id, rollout_index)
left join staging.records using (record_id)
left join failed using (run_id, task_id, rollout_index)
left join lost_lines using (run_id, task_id, rollout_index)
left join staging.call_signs as calls using (record_id)
left join staging.row_signs as signs using (record_id)
left join checks using (record_id)
left join verdict_twins using (record_id)
