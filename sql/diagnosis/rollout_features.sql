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
            -- A row may stand in a text, its quotes escaped.
            regexp_extract(snippet, '"_ng_task_index\\?"\s*:\s*\\?"?([^"\\,}\s]+)', 1) as task_id,
            try_cast(
                regexp_extract(snippet, '"_ng_rollout_index\\?"\s*:\s*(\d{1,9})', 1) as bigint
            ) as rollout_index
        from raw.rejects
        inner join raw.files on files.file_no = rejects.record_id // 1099511627776
        inner join staging.run_keys using (run_name)
        where files.kind = 'rollouts'
    )
),
-- The verifier's named checks that tell: failing is rarer in passes than in failures, and does
-- not just say the verdict again for every task. One that never fails is one of how many.
telling as (
    from staging.check_outcomes
    where (n_passing = 0 or n_passing * n_failures < n_failing * n_passes) and not is_verdict
),
check_counts as (
    select
        run_id, task_id, rollout_index,
        count(*) filter (where is_passed) as n_passed,
        count(*) filter (where not is_passed) as n_failed,
        min_by(
            {
                name: check_name,
                -- The third of a list is another thing in every task.
                is_shared: n_tasks > 2 and not regexp_matches(check_name, '^[0-9]+$'),
                message: message
            },
            (-n_tasks, -n_failing, source, check_name), 3
        ) filter (where not is_passed) as failed
    from main.checks
    inner join staging.run_benchmarks using (run_id)
    inner join telling using (benchmark, source, check_name)
    where is_passed is not null
    group by all
),
-- A cap is what several of a run's longest attempts share, of which none passes, and that no cap-less
-- run would pile up at; token counts are seldom equal by chance.
caps as (
    select
        run_id,
        case
            when most_turns > 4 and n_at_turns > 2 and n_at_turns > n_below_turns
                and 2 * n_at_turns <= n_known and n_passed_at_turns = 0
                then most_turns
        end as turn_cap,
        case
            when most_tokens > 100 and n_at_tokens > 2 and 2 * n_at_tokens <= n_known
                and n_passed_at_tokens = 0
                then most_tokens
        end as token_cap
    from (
        select
            run_id,
            max(n_turns) as most_turns,
            max(output_tokens) as most_tokens,
            count(*) as n_known,
            count(*) filter (where n_turns = longest) as n_at_turns,
            count(*) filter (where n_turns = longest - 1) as n_below_turns,
            count(*) filter (where n_turns = longest and is_pass) as n_passed_at_turns,
            count(*) filter (where output_tokens = largest) as n_at_tokens,
            count(*) filter (where output_tokens = largest and is_pass) as n_passed_at_tokens
        from (
            select
                *,
                max(n_turns) over (partition by run_id) as longest,
                max(output_tokens) over (partition by run_id) as largest
            from staging.rollouts
        )
        group by all
    )
),
-- The verifier's own record: where most rows of a run have one, and all that pass, the others were
-- never graded. A short field may say so, too.
graded as (
    select run_id, record_id, path, is_pass
    from staging.record_entries
    inner join staging.rollouts using (record_id)
    where
        item_no = 0 and kind in ('OBJECT', 'ARRAY') and parent = ''
        and lower(name) in (select word from raw.record_words where role = 'graded_by')
),
unverified as (
    select run_id, path
    from graded
    inner join (
        select run_id, count(*) as n_all, count(*) filter (where is_pass) as n_all_passed
        from staging.rollouts
        group by all
    ) using (run_id)
    group by run_id, path, n_all, n_all_passed
    having
        count(*) * 2 > n_all and count(*) < n_all
        and count(*) filter (where is_pass) = n_all_passed
),
ungraded as (
    select record_id, min(reason) as reason
    from (
        select record_id, 'no ' || path || ' in its row' as reason
        from unverified
        inner join staging.rollouts using (run_id)
        anti join graded using (record_id, path)
        where is_scored
        union all
        -- Of what was checked all the same, a word such as parse_error is the attempt's.
        select record_id, path || '=' || value as reason
        from staging.record_entries
        inner join staging.rollouts using (record_id)
        left join (from main.checks where is_passed is not null) as judged
            using (run_id, task_id, rollout_index)
        where
            item_no = 0 and n_characters <= 60
            and (
                judged.run_id is null
                and lower(replace(value, '_', ' '))
                    in (select replace(word, '_', ' ') from raw.record_words where role = 'ungraded')
                or value = 'false'
                and lower(name) in (select word from raw.record_words where role = 'graded_if')
            )
        qualify not bool_or(is_pass) over (partition by path, value)
    )
    group by all
),
-- After how many turns an attempt ended that the verifier never saw.
ungraded_turns as (
    select distinct run_id, n_turns
    from ungraded
    inner join staging.rollouts using (record_id)
),
-- A report of the agent's own tests: whether the last line of figures has failures in it.
self_checks as (
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
        prompt_sha, record_id, is_pass,
        hash(calls_key, coalesce(answer, final_text)) as behaviour,
        run_id || '/' || rollout_id as citation
    from staging.rollouts
    left join staging.final_texts using (record_id)
    inner join staging.run_benchmarks using (run_id)
    left join staging.call_signs using (record_id)
    semi join (
        select benchmark, task_id
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
    select record_id, passing.same_as_pass
    from behaviours
    inner join (
        select
            benchmark, task_id,
            prompt_sha, behaviour,
            min(citation) as same_as_pass
        from behaviours
        where is_pass
        group by all
    ) as passing using (benchmark, task_id, prompt_sha, behaviour)
    where not is_pass
)
select
    run_id, task_id, rollout_index,
    context.benchmark, attempts.outcome, attempts.is_scored, attempts.is_pass, attempts.reward,
    failed.failure_class,
    left(failed.message, 400) as failure_message,
    attempts.is_infrastructure,
    not attempts.is_recorded and lost_lines.run_id is not null as is_unreadable,
    rollouts.finish_reason, rollouts.is_truncated, rollouts.has_output, rollouts.has_action,
    rollouts.has_feedback,
    run_benchmarks.is_tool_call as needs_tools,
    rollouts.n_events, rollouts.n_turns, rollouts.n_tool_calls, rollouts.n_tool_errors,
    if(is_observed, coalesce(calls.calls_by_tool, map([], [])), null) as calls_by_tool,
    if(is_observed, cast(coalesce(cardinality(calls.calls_by_tool), 0) as bigint), null) as n_tools,
    if(is_observed, coalesce(calls.n_repeated_calls, 0), null) as n_repeated_calls,
    if(is_observed, coalesce(calls.n_unanswered_calls, 0), null) as n_unanswered_calls,
    if(is_observed, coalesce(calls.n_malformed_calls, 0), null) as n_malformed_calls,
    if(is_observed, coalesce(calls.n_unknown_tool_calls, 0), null) as n_unknown_tool_calls,
    if(is_observed, coalesce(calls.longest_error_streak, 0), null) as longest_error_streak,
    if(is_observed, coalesce(calls.n_final_errors, 0), null) as n_final_errors,
    if(is_observed, coalesce(calls.n_same_final_errors, 0), null) as n_same_final_errors,
    if(is_observed, coalesce(calls.ends_in_error, false), null) as ends_in_error,
    if(is_observed, coalesce(calls.n_counted_calls, 0), null) as n_counted_calls,
    calls.error_signature, calls.n_expected_actions,
    if(is_observed, calls.n_matched_actions, null) as n_matched_actions,
    if(is_observed, calls.n_unexpected_calls, null) as n_unexpected_calls,
    if(is_observed, calls.missing_call, null) as missing_call,
    if(is_observed, calls.missing_argument, null) as missing_argument,
    if(is_observed, calls.guessed_seq is not null, null) as has_guessed_address,
    if(is_observed, regexp_matches(records.outline, '[cr]$'), null) as ends_on_tool,
    signs.n_final_characters,
    if(is_observed, coalesce(signs.is_refusal, false), null) as is_refusal,
    if(is_observed, coalesce(signs.is_raw_call, false), null) as is_raw_call,
    if(is_observed, coalesce(signs.admits_failure, false), null) as admits_failure,
    self_checks.self_check,
    rollouts.answer is not null as has_answer,
    coalesce(signs.is_unextracted, false) as is_unextracted,
    coalesce(signs.is_reference, false) as is_reference,
    case
        when context.twin_reference is null or signs.is_reference then false
        else coalesce(comparable(rollouts.answer) = comparable(context.twin_reference), false)
    end as is_twin_reference,
    signs.reference is not null as has_reference,
    signs.verifier_text, signs.verifier_error, signs.sandbox_error, signs.model_error,
    signs.exit_code,
    coalesce(check_counts.n_passed, signs.n_checks_passed) as n_checks_passed,
    coalesce(check_counts.n_failed, signs.n_checks_failed) as n_checks_failed,
    list_transform(check_counts.failed, lambda each: each.name) as failed_check_names,
    case when check_counts.failed[1].is_shared then check_counts.failed[1].name end as shared_check,
    left(
        check_counts.n_failed || ' of ' || (check_counts.n_failed + check_counts.n_passed)
            || if(check_counts.n_failed + check_counts.n_passed = 1, ' check', ' checks')
            || ' failed: ' || array_to_string(failed_check_names, ', ')
            || coalesce(' (' || check_counts.failed[1].message || ')', ''),
        400
    ) as failed_checks,
    coalesce(signs.is_timed_out, false)
        or coalesce(failed.failure_class = 'timeout_exceeded', false) as is_timed_out,
    coalesce(signs.is_overrun, false) as is_overrun,
    case
        when attempts.is_pass then null
        when rollouts.is_truncated then 'cut at the token limit'
        when signs.is_overrun then 'ran out of context or memory'
        when signs.is_timed_out or failed.failure_class = 'timeout_exceeded' then 'ran out of time'
        -- Where the verifier never saw some that end there, it was these that were cut.
        when
            rollouts.n_turns = caps.turn_cap
            and (ungraded.reason is not null or ungraded_turns.run_id is null)
            then 'stopped at turn ' || caps.turn_cap || ', where the longest attempts end'
        when rollouts.output_tokens = caps.token_cap then 'stopped at ' || caps.token_cap || ' output tokens, as the longest attempts do'
    end as cut_by,
    case when not attempts.is_pass then coalesce(signs.verifier_error, ungraded.reason) end as ungraded_by,
    -- Nothing was generated, and nobody looked.
    coalesce(
        records.outline = '' and not attempts.is_pass and coalesce(rollouts.output_tokens, 0) = 0
        and coalesce(
            json_field_count(records.usage, 'output_tokens'),
            json_field_count(records.usage, 'completion_tokens')
        ) = 0
        and check_counts.n_failed is null and signs.verifier_text is null,
        false
    ) as is_unreached,
    rollouts.input_tokens, rollouts.output_tokens,
    rollouts.output_tokens / nullif(records.max_output_tokens, 0) as output_limit_rate,
    rollouts.duration_s, verdict_twins.same_as_pass,
    context.n_attempts as n_task_attempts,
    context.n_scored as n_task_scored,
    context.n_passed as n_task_passed,
    context.n_passed_elsewhere, context.is_same_unexpected_call, context.is_limit_for_all,
    context.twin_task_id, calls.repeated_error_seq, calls.final_error_seq, calls.malformed_seq,
    calls.unknown_tool_seq, calls.unexpected_call_seq, calls.missing_argument_seq,
    calls.guessed_seq,
    case when self_checks.self_check is not null then calls.last_result_seq end as self_check_seq,
    signs.final_text_seq,
    -- The model's own last event: what others said after it is not its doing.
    coalesce(
        nullif(length(regexp_extract(records.outline, '^.*[cmto]')), 0), nullif(rollouts.n_events, 0)
    ) as last_seq
from staging.attempts
inner join staging.task_context as context using (run_id, task_id)
inner join staging.run_benchmarks using (run_id)
left join (select * exclude (run_id, task_id, rollout_index) from staging.rollouts) as rollouts
    using (record_id)
left join (select record_id, outline, usage, max_output_tokens from staging.records) as records
    using (record_id)
left join failed using (run_id, task_id, rollout_index)
left join lost_lines using (run_id, task_id, rollout_index)
left join staging.call_signs as calls using (record_id)
left join staging.row_signs as signs using (record_id)
left join self_checks using (record_id)
left join check_counts using (run_id, task_id, rollout_index)
left join caps using (run_id)
left join ungraded using (record_id)
left join ungraded_turns
    on ungraded_turns.run_id = attempts.run_id
    and ungraded_turns.n_turns = rollouts.n_turns
left join verdict_twins using (record_id)
