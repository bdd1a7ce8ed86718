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
candidates as (
    select
        calls.record_id,
        calls.seq,
        unnest(argument_addresses(calls.arguments)) as address
    from staging.keyed_calls as calls
    where regexp_matches(calls.arguments, '@')
),
writers as (
    select record_id
    from candidates
    group by all
),
-- What had been read: the question, and every word that was not the model's own.
sources as (
    select
        writers.record_id,
        0 as seq,
        concat_ws(' ', prompts.system_prompt, prompts.prompt) as text
    from writers
    inner join main.rollouts using (record_id)
    inner join main.task_prompts as prompts
        on prompts.run_id = rollouts.run_id
        and prompts.task_id = rollouts.task_id
        and prompts.prompt_sha = rollouts.prompt_sha
    union all
    select events.record_id, events.seq, events.text
    from raw.events
    inner join writers using (record_id)
    where events.kind = 'tool_result' or (events.kind = 'message' and events.role in ('user', 'system'))
),
found as (
    select
        record_id,
        seq,
        unnest(addresses(text)) as address
    from sources
    where regexp_matches(text, '@')
),
seen as (
    select
        record_id,
        local_part(address) as name,
        min(seq) as seq
    from found
    group by all
),
unseen as (
    select candidates.record_id, candidates.seq, candidates.address
    from candidates
    left join seen
        on seen.record_id = candidates.record_id
        and seen.name = local_part(candidates.address)
        and seen.seq < candidates.seq
    where seen.name is null
),
-- Every unseen address is held against every one that was read: of lists of thousands nothing is said.
sizes as (
    select
        unseen.record_id,
        count(*) as n_unseen,
        coalesce(max(counted.n_seen), 0) as n_seen
    from unseen
    left join (
        select
            record_id,
            count(*) as n_seen
        from seen
        group by all
    ) as counted using (record_id)
    group by unseen.record_id
),
-- Addresses in a call's arguments that nothing the rollout had read contains, nor nearly contains.
guessed_addresses as (
    select unseen.record_id, unseen.seq, unseen.address
    from unseen
    inner join sizes using (record_id)
    left join seen
        on seen.record_id = unseen.record_id
        and seen.seq < unseen.seq
        and is_nearly(seen.name, local_part(unseen.address))
    where sizes.n_unseen * sizes.n_seen <= 20000
    group by unseen.record_id, unseen.seq, unseen.address
    having count(seen.name) = 0
),
guesses as (
    select
        record_id,
        min(seq) as seq
    from guessed_addresses
    group by all
),
-- The last call of a rollout that changed something and worked: what came before it was got over.
last_counted_calls as (
    select
        record_id,
        max(seq) as seq
    from staging.keyed_calls
    where is_consequential and not is_error and result_seq is not null
    group by all
),
-- What the errors of a rollout's tools say: the first call of a tool that does not exist.
error_signs as (
    select
        errors.record_id,
        count(*) filter (where errors.is_unknown_tool) as n_unknown_tool_calls,
        -- Got over, where anything that counts came after it.
        min(errors.seq) filter (
            where errors.is_unknown_tool and errors.seq > coalesce(counted.seq, 0)
        ) as unknown_tool_seq,
        max_by(errors.message, errors.seq) as last_error,
        max_by(errors.signature, errors.seq) as last_error_signature
    from staging.call_errors as errors
    left join last_counted_calls as counted using (record_id)
    group by errors.record_id
),
-- Of the arguments left out, the one whose call comes first.
arguments as (
    select
        record_id,
        tool || '.' || argument as argument,
        tool_seq,
        row_number() over (partition by record_id order by tool_seq, tool, argument) as rank
    from staging.missing_habits as missing
    where argument <> '' and tool_seq is not null
),
calls as (
    select
        record_id,
        min(tool) as tool
    from staging.missing_habits as missing
    where argument = ''
    group by all
),
records as (
    select record_id
    from staging.missing_habits as missing
    group by all
),
-- What a failing rollout leaves out though every pass of its task does it: a call, or an argument.
habit_signs as (
    select
        records.record_id,
        left(calls.tool, 100) as missing_call,
        left(arguments.argument, 200) as missing_argument,
        arguments.tool_seq as missing_argument_seq
    from records
    left join calls using (record_id)
    left join arguments
        on arguments.record_id = records.record_id
        and arguments.rank = 1
),
named as (
    select
        files.run_name,
        rejects.record_id,
        regexp_extract(rejects.snippet, '"_ng_task_index"\s*:\s*"?([^",}\s]+)', 1) as task_id,
        try_cast(regexp_extract(rejects.snippet, '"_ng_rollout_index"\s*:\s*(\d{1,9})', 1) as bigint)
            as rollout_index
    from raw.rejects
    inner join raw.files on files.file_no = rejects.record_id // 1099511627776
    where files.kind = 'rollouts'
),
-- Rejected lines that still say which rollout they were, where that rollout has no row.
lost_lines as (
    select
        attempts.run_id,
        attempts.task_id,
        attempts.rollout_index,
        min(named.record_id) as lost_record_id
    from named
    inner join staging.run_keys using (run_name)
    inner join staging.attempts
        on attempts.run_id = run_keys.run_id
        and attempts.task_id = named.task_id
        and attempts.rollout_index = named.rollout_index
    where not attempts.is_recorded
    group by all
),
-- Arguments may be long: their keys are enough to tell calls apart.
call_signs_calls as (
    select
        record_id,
        seq,
        tool,
        text_key(arguments) as arguments_key,
        is_malformed,
        result_seq,
        is_error,
        is_consequential
    from staging.keyed_calls
),
last_calls as (
    select
        record_id,
        seq,
        tool,
        arguments_key,
        is_error,
        is_error or result_seq is null as is_no_success,
        row_number() over (partition by record_id order by seq desc) as rank
    from call_signs_calls as calls
),
marked as (
    select
        calls.*,
        calls.is_error and calls.seq > coalesce(last_counted.seq, 0) as is_final_error,
        last_calls.is_error as ends_in_error,
        last_calls.seq as last_call_seq,
        last_calls.is_no_success
            and calls.tool = last_calls.tool
            and calls.arguments_key = last_calls.arguments_key as is_same_as_end,
        row_number() over (
            partition by calls.record_id, calls.tool, calls.arguments_key order by calls.seq
        ) as occurrence,
        -- Failing calls in a row have one and the same difference of these two.
        row_number() over (partition by calls.record_id order by calls.seq)
            - row_number() over (partition by calls.record_id, calls.is_error order by calls.seq)
            as streak
    from call_signs_calls as calls
    left join last_counted_calls as last_counted using (record_id)
    inner join last_calls
        on last_calls.record_id = calls.record_id
        and last_calls.rank = 1
),
-- The same failing call at the end: whether once or again.
numbered as (
    select
        *,
        is_final_error and is_same_as_end as is_same_final_error,
        row_number() over (
            partition by record_id, is_final_error, is_same_as_end order by seq
        ) as nth_alike
    from marked
),
streaks as (
    select
        record_id,
        max(n_calls) as longest
    from (
        select
            record_id,
            streak,
            count(*) as n_calls
        from marked
        where is_error
        group by all
    ) as counted
    group by all
),
-- What a rollout's calls show: repeats, calls that nobody answered, and how it ended.
call_signs as materialized (
    select
        numbered.record_id,
        count(distinct numbered.tool) as n_tools,
        count(*) filter (where numbered.occurrence > 1) as n_repeated_calls,
        count(*) filter (where numbered.result_seq is null) as n_unanswered_calls,
        count(*) filter (where numbered.is_malformed) as n_malformed_calls,
        count(*) filter (where numbered.is_consequential and not numbered.is_error and numbered.result_seq is not null)
            as n_counted_calls,
        coalesce(max(streaks.longest), 0) as longest_error_streak,
        count(*) filter (where numbered.is_final_error) as n_final_errors,
        count(*) filter (where numbered.is_same_final_error) as n_same_final_errors,
        max(numbered.last_call_seq) as last_call_seq,
        coalesce(bool_or(numbered.ends_in_error), false) as ends_in_error,
        min(numbered.seq) filter (where numbered.is_same_final_error and numbered.nth_alike = 2)
            as repeated_error_seq,
        max(numbered.result_seq) filter (where numbered.is_final_error) as final_error_seq,
        min(numbered.seq) filter (
            where
                numbered.is_malformed
                and (numbered.is_final_error or (numbered.result_seq is null and numbered.seq = numbered.last_call_seq))
        ) as malformed_seq,
        max(numbered.result_seq) as last_result_seq
    from numbered
    left join streaks using (record_id)
    group by numbered.record_id
),
results as (
    select record_id, last_result_seq
    from call_signs
    where last_result_seq is not null
),
checks as (
    select
        events.record_id,
        cast(events.seq as bigint) as self_check_seq,
        self_check(right(events.text, 400)) as self_check
    from raw.events
    inner join results
        on results.record_id = events.record_id
        and results.last_result_seq = events.seq
),
-- What the last words of a rollout, and its last tool result, look like.
text_signs as (
    select
        rollouts.record_id,
        length(rollouts.final_text) as n_final_characters,
        outlines.last_message_seq as final_text_seq,
        is_refusal(left(rollouts.final_text, 600)) as is_refusal,
        is_raw_call(right(rollouts.final_text, 2000)) as is_raw_call,
        admits_failure(right(rollouts.final_text, 600)) as admits_failure,
        checks.self_check,
        case when checks.self_check is not null then checks.self_check_seq end as self_check_seq
    from main.rollouts
    left join staging.signs as outlines using (record_id)
    left join checks using (record_id)
),
counted as (
    select
        record_id,
        tool,
        count(*) as n_calls
    from staging.calls
    group by all
),
-- How often a rollout calls each tool.
tool_counts as (
    select
        record_id,
        map_from_entries(list(struct_pack(key := tool, value := n_calls) order by tool))
            as calls_by_tool
    from counted
    group by all
),
called as (
    select
        record_id,
        string_agg(
            cast(text_key(concat_ws(' ', tool, arguments, cast(is_error as varchar))) as varchar),
            ' '
            order by seq
        ) as calls
    from staging.calls
    group by all
),
-- All that a rollout did and said, under one short name: equal behaviour has equal names.
behaviour_keys as (
    select
        rollouts.record_id,
        md5(concat_ws(' | ', called.calls, coalesce(rollouts.answer, rollouts.final_text))) as behaviour
    from main.rollouts
    left join called using (record_id)
    -- Without a call or last words there is nothing to compare.
    where
        rollouts.is_scored
        and (
            called.calls is not null
            or regexp_matches(coalesce(rollouts.answer, rollouts.final_text), '\S')
        )
),
-- How many rollouts of a task passed and failed, over all runs of the benchmark.
task_passes as (
    select
        run_benchmarks.benchmark,
        attempts.task_id,
        count(*) filter (where attempts.is_pass) as n_passed,
        count(*) filter (where attempts.is_scored and not attempts.is_pass) as n_failed
    from staging.attempts
    inner join staging.run_benchmarks using (run_id)
    group by all
),
judged as (
    select
        run_benchmarks.benchmark,
        rollouts.task_id,
        rollouts.record_id,
        rollouts.is_pass,
        rollouts.prompt_sha,
        rollouts.run_id || '/' || rollouts.rollout_id as citation,
        keys.behaviour
    from behaviour_keys as keys
    inner join main.rollouts using (record_id)
    inner join staging.run_benchmarks using (run_id)
    inner join task_passes as passes using (benchmark, task_id)
    where passes.n_passed > 0 and passes.n_failed > 0
),
-- Under one number two runs may ask different things, or expect different answers.
passing as (
    select
        benchmark,
        task_id,
        prompt_sha,
        behaviour,
        min(citation) as citation
    from judged
    where is_pass
    group by all
),
-- Failing rollouts that did and said exactly what a passing one of the same task did.
verdict_twins as (
    select
        judged.record_id,
        passing.citation as twin
    from judged
    inner join passing using (benchmark, task_id, prompt_sha, behaviour)
    where not judged.is_pass
)
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
from staging.attempts
inner join staging.task_context as context using (run_id, task_id)
inner join staging.run_benchmarks as benchmarks using (run_id)
left join main.rollouts using (run_id, task_id, rollout_index)
left join staging.records using (record_id)
left join failed using (run_id, task_id, rollout_index)
left join lost_lines as lost using (run_id, task_id, rollout_index)
left join tool_counts as tools using (record_id)
left join call_signs as calls using (record_id)
left join error_signs as errors using (record_id)
left join staging.action_signs as actions using (record_id)
left join habit_signs as habits using (record_id)
left join guesses using (record_id)
left join text_signs as texts using (record_id)
left join staging.verifier_signs as verifier using (record_id)
left join verdict_twins as verdicts using (record_id)
