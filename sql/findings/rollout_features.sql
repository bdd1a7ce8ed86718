-- What a profile's failure mode may ask of an attempt: what it did, how it ended, how its task fared.
-- grain: run_id, task_id, rollout_index
-- looks at: task
-- kind: table
with
-- Rejected lines that still say which rollout they were, where that rollout has no row.
lost_lines as (
    select distinct
        run_id,
        -- A row may stand in a text, its quotes escaped.
        regexp_extract(snippet, '"_ng_task_index\\?"\s*:\s*\\?"?([^"\\,}\s]+)', 1) as task_id,
        try_cast(
            regexp_extract(snippet, '"_ng_rollout_index\\?"\s*:\s*(\d{1,9})', 1) as bigint
        ) as rollout_index
    from raw.rejects
    inner join raw.files on files.file_no = rejects.record_id // 1099511627776
    inner join staging.run_keys using (run_name)
    where files.kind = 'rollouts'
),
calls as (
    select
        record_id,
        cast(histogram(tool) as map(varchar, bigint)) as calls_by_tool,
        list_sort(list(distinct tool) filter (where result_seq is not null and not is_error)) as answered_tools,
        count(*) - count(distinct call_key) as n_repeated_calls,
        count(*) filter (where result_seq is null) as n_unanswered_calls,
        count(*) filter (where is_malformed) as n_malformed_calls,
        count(*) filter (where is_unknown_tool) as n_unknown_tool_calls,
        arg_max(signature, seq) filter (where is_error) as error_signature,
        arg_max(is_error, seq) as ends_in_error,
        max(result_seq) filter (where is_error) as last_error_seq,
        min(seq) filter (where is_malformed) as malformed_seq
    from staging.calls
    group by all
),
expected as (
    select
        run_id,
        task_id,
        rollout_index,
        count(*) filter (where expected_no is not null) as n_expected_calls,
        count(*) filter (where status = 'made') as n_met_calls,
        count(*) filter (where status = 'unasked') as n_unexpected_calls
    from main.expected_calls
    group by all
),
checks as (
    select
        run_id,
        task_id,
        rollout_index,
        count(*) filter (where is_passed) as n_checks_passed,
        count(*) filter (where not is_passed) as n_checks_failed,
        min_by(check_name, check_name, 20) filter (where not is_passed) as failed_check_names
    from main.checks
    where is_passed is not null
    group by all
),
tasks as (
    select
        run_id,
        task_id,
        count(*) as n_task_attempts,
        count(*) filter (where is_scored) as n_task_scored,
        count(*) filter (where is_pass) as n_task_passed
    from staging.attempts
    group by all
)
select
    run_id,
    task_id,
    rollout_index,
    run_benchmarks.benchmark,
    attempts.outcome,
    attempts.is_scored,
    attempts.is_pass,
    attempts.reward,
    if(attempts.outcome = 'failed attempt', attempts.failure_class, null) as failure_class,
    if(attempts.outcome = 'failed attempt', left(attempts.failure_message, 400), null) as failure_message,
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
    if(is_observed, coalesce(calls.calls_by_tool, map([], [])), null) as calls_by_tool,
    -- Tools of which a call was answered, and not with an error.
    if(is_observed, coalesce(calls.answered_tools, []), null) as answered_tools,
    if(is_observed, cast(coalesce(cardinality(calls.calls_by_tool), 0) as bigint), null) as n_tools,
    if(is_observed, coalesce(calls.n_repeated_calls, 0), null) as n_repeated_calls,
    if(is_observed, coalesce(calls.n_unanswered_calls, 0), null) as n_unanswered_calls,
    if(is_observed, coalesce(calls.n_malformed_calls, 0), null) as n_malformed_calls,
    if(is_observed, coalesce(calls.n_unknown_tool_calls, 0), null) as n_unknown_tool_calls,
    if(is_observed, coalesce(calls.ends_in_error, false), null) as ends_in_error,
    if(is_observed, regexp_matches(records.outline, '[cr]$'), null) as ends_on_tool,
    calls.error_signature,
    expected.n_expected_calls,
    if(is_observed, expected.n_met_calls, null) as n_met_calls,
    if(is_observed, expected.n_unexpected_calls, null) as n_unexpected_calls,
    checks.n_checks_passed,
    checks.n_checks_failed,
    checks.failed_check_names,
    rollouts.answer is not null as has_answer,
    length(final_texts.final_text) as n_final_characters,
    rollouts.input_tokens,
    rollouts.output_tokens,
    rollouts.output_tokens / nullif(records.max_output_tokens, 0) as output_limit_rate,
    rollouts.duration_s,
    tasks.n_task_attempts,
    tasks.n_task_scored,
    tasks.n_task_passed,
    calls.last_error_seq,
    calls.malformed_seq,
    cast(rollouts.last_message_seq as bigint) as final_text_seq,
    -- The model's own last event: what others wrote after it is not its doing.
    coalesce(
        nullif(length(regexp_extract(records.outline, '^.*[cmto]')), 0), nullif(rollouts.n_events, 0)
    ) as last_seq
from staging.attempts
-- Each run has a benchmark and each attempt a task. Left joins, because DuckDB 2.0.0 ends with an
-- internal error ("dict-surviving join") where a join spills between an inner one with few rows and another.
left join staging.run_benchmarks using (run_id)
left join tasks using (run_id, task_id)
left join (select * exclude (run_id, task_id, rollout_index) from staging.rollouts) as rollouts
    using (record_id)
left join staging.final_texts using (record_id)
left join (select record_id, outline, max_output_tokens from staging.records) as records
    using (record_id)
left join lost_lines using (run_id, task_id, rollout_index)
left join calls using (record_id)
left join expected using (run_id, task_id, rollout_index)
left join checks using (run_id, task_id, rollout_index)
